"""An archived project asks nothing: its runs and searches are paused, its studies wait until it is
restored."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from evaluations.models import (
    ErrandState,
    EvaluationRun,
    Judge,
    Project,
    RunState,
    Search,
    Study,
    StudyKind,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def about(judged_project: Project) -> dict[str, Any]:
    criterion = judged_project.criteria.get(name="coherence")
    return {"project": judged_project, "judge": Judge.objects.get(), "criterion": criterion}


def test_runs_and_searches_are_paused_and_can_be_resumed(
    about: dict[str, Any], owner: User, client: Client
) -> None:
    run = EvaluationRun.objects.get()
    EvaluationRun.objects.update(state=RunState.RUNNING, finished_at=None)
    search = Search.objects.create(**about, state=ErrandState.ASKING)
    client.force_login(owner)

    client.post("/p/small/archived/")

    run.refresh_from_db()
    search.refresh_from_db()
    assert (run.state, search.state) == (RunState.PAUSED, ErrandState.PAUSED)
    assert run.message == search.message == "Paused by archiving the project."
    assert client.post(f"/p/small/runs/{run.pk}/resume/").status_code == 403

    client.post("/p/small/archived/", {"back": "1"})

    assert client.post(f"/p/small/runs/{run.pk}/resume/").status_code == 302
    run.refresh_from_db()
    assert run.state == RunState.DONE  # everything had been judged


def test_a_run_that_is_done_stays_done(about: dict[str, Any], owner: User, client: Client) -> None:
    client.force_login(owner)
    client.post("/p/small/archived/")

    assert EvaluationRun.objects.get().state == RunState.DONE


def test_a_watch_waits_until_the_project_is_restored(
    about: dict[str, Any], owner: User, client: Client
) -> None:
    study = Study.objects.create(**about, kind=StudyKind.AGAIN, is_on=True, next_at=timezone.now())
    assert list(Study.objects.due()) == [study]
    client.force_login(owner)

    client.post("/p/small/archived/")
    assert list(Study.objects.due()) == []

    client.post("/p/small/archived/", {"back": "1"})
    assert list(Study.objects.due()) == [study]
