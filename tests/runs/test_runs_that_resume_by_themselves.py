"""A quota that is used up pauses the run until it is renewed; then the run resumes by itself."""

import datetime
from collections.abc import Callable

import pytest
from django.test import Client
from django.utils import timezone

from evaluations.judging.runs.lifecycle import pause_by_person, resume_run
from evaluations.judging.runs.resuming import TRY_AGAIN, resume_due_runs
from evaluations.judging.runs.starting import start_run
from evaluations.judging.runs.worker import work_on_run
from evaluations.models import EvaluationRun, Judge, Project, RunState

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
MakeJudge = Callable[..., Judge]


def worked_on(run: EvaluationRun) -> EvaluationRun:
    work_on_run(run.pk, "tester")
    run.refresh_from_db()
    return run


def started(judge: Judge) -> EvaluationRun:
    return start_run(judge, list(judge.project.criteria.all()))


def make_due(run: EvaluationRun) -> None:
    EvaluationRun.objects.filter(pk=run.pk).update(resumes_at=timezone.now())


@pytest.fixture
def out_of_quota(small_project: Project, make_judge: MakeJudge) -> EvaluationRun:
    """A run that is paused by a quota of five calls."""
    judge = make_judge(small_project, "--quota", "5", use_steps=False)
    return worked_on(started(judge))


def test_a_quota_pauses_the_run_with_the_words_of_the_endpoint_and_a_time(
    out_of_quota: EvaluationRun,
) -> None:
    run = out_of_quota

    assert run.state == RunState.PAUSED
    assert "You exceeded your current quota" in run.message
    assert run.resumes_at is not None
    away = run.resumes_at - timezone.now()
    assert TRY_AGAIN - datetime.timedelta(minutes=5) < away <= TRY_AGAIN
    assert not run.items.filter(state="failed").exists()


def test_when_its_time_comes_one_call_tries_and_the_run_pauses_again(
    out_of_quota: EvaluationRun,
) -> None:
    run = out_of_quota
    calls = run.calls
    make_due(run)

    resume_due_runs()

    run.refresh_from_db()
    assert (run.state, run.message, run.resumes_at) == (RunState.RUNNING, "", None)
    worked_on(run)
    assert (run.state, run.calls) == (RunState.PAUSED, calls + 1)
    assert run.resumes_at is not None


def test_when_the_quota_is_renewed_the_run_ends(
    small_project: Project, make_judge: MakeJudge
) -> None:
    judge = make_judge(
        small_project, "--quota", "8", "--quota-seconds", "0.2", use_steps=False, concurrency=4
    )
    run = worked_on(started(judge))

    for _ in range(5):
        if run.state == RunState.PAUSED:
            make_due(run)
            resume_due_runs()
            worked_on(run)

    assert (run.state, run.items.filter(state="done").count()) == (RunState.DONE, 12)


def test_a_run_whose_time_has_not_come_stays_paused(out_of_quota: EvaluationRun) -> None:
    resume_due_runs()

    out_of_quota.refresh_from_db()
    assert out_of_quota.state == RunState.PAUSED


def test_a_run_that_somebody_paused_is_never_resumed(out_of_quota: EvaluationRun) -> None:
    make_due(out_of_quota)
    assert pause_by_person(out_of_quota.pk, "kim")

    resume_due_runs()

    out_of_quota.refresh_from_db()
    assert (out_of_quota.state, out_of_quota.message) == (RunState.PAUSED, "Paused by kim.")
    assert not resume_run(out_of_quota, only_due=True)


def test_the_page_says_when_it_resumes_and_an_owner_can_keep_it_paused(
    as_role: Callable[[str], Client], out_of_quota: EvaluationRun
) -> None:
    address = out_of_quota.get_absolute_url()
    page = as_role("viewer").get(address).content.decode()
    assert "Resumes by itself on" in page
    assert "Keep paused" not in page
    owner = as_role("owner")
    assert "Keep paused" in owner.get(address).content.decode()

    owner.post(f"{address}pause/")

    page = owner.get(address).content.decode()
    assert "Resumes by itself" not in page
    assert "Paused by" in page
