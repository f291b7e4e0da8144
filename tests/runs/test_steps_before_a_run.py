"""Steps that a run lacks are written before its items: each is kept when it comes, one worker
writes them, and a failure shows before the next is paid for."""

import datetime
import threading
from collections.abc import Callable

import pytest
from django.db import connection
from django.utils import timezone

from evaluations.judging.runs.lifecycle import claim_preparation, resume_run
from evaluations.judging.runs.starting import start_run
from evaluations.judging.runs.worker import work_on_run
from evaluations.models import EvaluationRun, EvaluationSteps, Judge, Project, RunState
from geval.llm.calls import RetryPolicy
from tests.conftest import wait_until
from tests.hostile.endpoint import hostile_endpoint
from tests.processes import StandInProcess

pytestmark = pytest.mark.django_db(transaction=True)
QUICK = RetryPolicy(attempts=2, first_wait=0.001, longest_wait=0.01)
MakeJudge = Callable[..., Judge]


def started(judge: Judge) -> EvaluationRun:
    return start_run(judge, list(judge.project.criteria.all()))


def in_a_thread(run: EvaluationRun, worker: str) -> threading.Thread:
    thread = threading.Thread(
        target=lambda: (work_on_run(run.pk, worker, policy=QUICK), connection.close())
    )
    thread.start()
    return thread


@pytest.fixture
def short_lease(monkeypatch: pytest.MonkeyPatch) -> datetime.timedelta:
    lease = datetime.timedelta(seconds=1)
    monkeypatch.setattr("evaluations.judging.runs.lifecycle.PREPARE_LEASE", lease)
    monkeypatch.setattr("evaluations.judging.runs.worker.PREPARE_LEASE", lease)
    return lease


def lease_of(run: EvaluationRun) -> datetime.datetime | None:
    return EvaluationRun.objects.values_list("preparer_until", flat=True).get(pk=run.pk)


def test_a_second_worker_does_not_write_them_however_long_the_first_takes(
    small_project: Project, make_judge: MakeJudge, short_lease: datetime.timedelta
) -> None:
    run = started(make_judge(small_project, "--latency", "3", concurrency=20))
    first = in_a_thread(run, "first")
    wait_until(lambda: lease_of(run) is not None)
    first_lease = lease_of(run)
    assert first_lease is not None

    wait_until(lambda: timezone.now() > first_lease)
    second_claim = claim_preparation(run.pk)
    first.join(60)

    assert second_claim is None
    run.refresh_from_db()
    assert run.state == RunState.DONE
    assert run.preparations == 1
    assert run.calls == 2 + 12
    assert sorted(EvaluationSteps.objects.values_list("version", flat=True)) == [1, 1]


def test_a_worker_that_lost_its_claim_stops_and_leaves_the_run_to_the_other(
    small_project: Project, make_judge: MakeJudge, short_lease: datetime.timedelta
) -> None:
    run = started(make_judge(small_project, "--latency", "3"))
    first = in_a_thread(run, "first")
    wait_until(lambda: lease_of(run) is not None)

    EvaluationRun.objects.filter(pk=run.pk).update(
        preparations=2, preparer_until=timezone.now() + datetime.timedelta(minutes=5)
    )
    first.join(60)

    run.refresh_from_db()
    assert (run.state, run.preparations) == (RunState.PREPARING, 2)
    assert run.preparer_until is not None
    assert run.preparer_until > timezone.now() + datetime.timedelta(minutes=1)


def test_steps_that_came_are_kept_when_the_next_cannot_be_had(
    small_project: Project, make_judge: MakeJudge, start_standin: Callable[..., StandInProcess]
) -> None:
    judge = make_judge(small_project, "--quota", "1", "--quota-seconds", "100000")
    run = started(judge)

    work_on_run(run.pk, "tester", policy=QUICK)
    kept = EvaluationSteps.objects.get()
    run.refresh_from_db()
    state = run.state
    assert judge.endpoint
    judge.endpoint.base_url = start_standin().base_url
    judge.endpoint.save()
    resume_run(run)
    work_on_run(run.pk, "tester", policy=QUICK)

    run.refresh_from_db()
    assert (state, run.state) == (RunState.PAUSED, RunState.DONE)
    assert kept.text in run.run_criteria.get(criterion=kept.criterion).template
    assert EvaluationSteps.objects.filter(criterion=kept.criterion).count() == 1


def test_a_reply_without_steps_shows_before_the_next_is_paid_for(
    small_project: Project, make_judge: MakeJudge
) -> None:
    with hostile_endpoint() as endpoint:
        base_url = endpoint.base_url("content: refusal")
        run = started(make_judge(small_project, base_url=base_url, concurrency=20))

        work_on_run(run.pk, "tester", policy=QUICK)

    run.refresh_from_db()
    assert run.state == RunState.PAUSED
    assert run.message.startswith("coherence: The model wrote no")
    assert run.calls == 1
