"""The home of a project: five steps with what to do next, what runs, where each criterion stands,
and what people did lately, in words."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from evaluations.models import EvaluationRun, Project
from evaluations.pages import home
from evaluations.pages.jobs import jobs_of
from evaluations.reports.serving import live
from evaluations.reports.serving.parts import ReportView

pytestmark = pytest.mark.django_db


def steps(project: Project, *, may_edit: bool = True) -> dict[str, home.HomeStep]:
    found = home.steps_of(project, jobs_of(project), None, may_edit=may_edit)
    return {step.key: step for step in found}


def test_a_viewer_is_asked_for_nothing(small_project: Project) -> None:
    found = steps(small_project, may_edit=False)

    assert "asks" not in {step.kind for step in found.values()}
    assert found["judge"].action == "Show judges"


def test_a_run_under_way_is_the_judges_step(judged_project: Project) -> None:
    EvaluationRun.objects.update(state="running")

    found = steps(judged_project)["judge"]

    assert (found.state, found.number, found.action) == ("Running", "100\u202f%", "Watch the run")


def test_verdicts_that_take_longer_are_fetched_after_the_page(
    judged_project: Project, as_role: Callable[[str], Client], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "AT_ONCE_NUMBERS", 5)

    def computed(*_given: Any, **_named: Any) -> None:
        raise AssertionError("computed with the page")

    client = as_role("viewer")
    with monkeypatch.context() as patch:
        patch.setattr(ReportView, "numbers", computed)
        page = client.get("/p/small/").content.decode()
    part = client.get("/p/small/standing/").content.decode()

    assert "The verdicts are being computed…" in page
    assert 'class="standings"' not in page
    assert "Too early to say" in part
    assert 'id="step-report"' in part
