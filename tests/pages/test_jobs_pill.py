"""The pill in the header says what is under way in a project, with a way there."""

from collections.abc import Callable

import pytest
from django.test import Client

from evaluations.judging.runs.lifecycle import lay_out_run
from evaluations.judging.runs.starting import start_run
from evaluations.models import EvaluationRun, Judge, Project, Search
from evaluations.pages.jobs import jobs_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def under_way(small_project: Project) -> EvaluationRun:
    """A run of 12 items, three of them done or failed."""
    judge = Judge.objects.create(
        project=small_project, name="j", kind="geval", mode="direct", model="m", use_steps=False
    )
    run = start_run(judge, list(small_project.criteria.all()))
    lay_out_run(run.pk)
    for pk, state in zip(
        run.items.values_list("pk", flat=True), ("done", "done", "failed"), strict=False
    ):
        run.items.filter(pk=pk).update(state=state)
    return run


def test_one_run_is_shown_with_its_share_and_a_link(
    under_way: EvaluationRun, as_role: Callable[[str], Client]
) -> None:
    part = as_role("viewer").get("/p/small/jobs/").content.decode()

    assert "1 run, 25\u202f%" in part
    assert f'href="/p/small/runs/{under_way.pk}/"' in part
    assert 'hx-trigger="every 5s, seen"' in part


def test_several_runs_and_searches_are_counted_and_what_a_search_tries_is_no_run(
    under_way: EvaluationRun,
) -> None:
    project = under_way.project
    criterion = project.criteria.all()[0]
    search = Search.objects.create(
        project=project, judge=under_way.judge, criterion=criterion, state="asking"
    )
    EvaluationRun.objects.create(project=project, judge=under_way.judge, state="running")
    EvaluationRun.objects.create(
        project=project, judge=under_way.judge, state="running", search=search
    )

    assert jobs_of(project).in_words == "2 runs, 1 search, 25\u202f%"


@pytest.mark.parametrize(("role", "asks"), [("viewer", True), ("annotator", False)])
def test_only_people_who_see_runs_ask_for_it(
    small_project: Project, as_role: Callable[[str], Client], role: str, asks: bool
) -> None:
    page = as_role(role).get("/p/small/annotate/").content.decode()

    assert ("/p/small/jobs/" in page) is asks
