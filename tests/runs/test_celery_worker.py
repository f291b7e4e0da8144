"""Real Celery workers on a real queue: a run is done, survives the loss of its worker, and is found
again."""

import signal
from collections.abc import Callable

import pytest
from django.utils import timezone

from evaluations.judging.runs import leases
from evaluations.judging.runs.lifecycle import lay_out_run
from evaluations.judging.runs.scheduling import waiting_run
from evaluations.judging.runs.starting import start_run
from evaluations.models import EvaluationRun, ItemState, Judge, Project, RunState, WorkerHeartbeat
from tests.conftest import wait_until
from tests.processes import WorkerProcess

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.processes]
StartWorker = Callable[[], WorkerProcess]


def started(judge: Judge) -> EvaluationRun:
    return start_run(judge, list(judge.project.criteria.all()))


def state_of(run: EvaluationRun) -> str:
    run.refresh_from_db()
    return run.state


def test_a_worker_is_woken_and_does_the_run(
    small_project: Project, make_judge: Callable[..., Judge], start_worker: StartWorker
) -> None:
    start_worker()
    wait_until(lambda: WorkerHeartbeat.objects.alive().exists())

    run = started(make_judge(small_project))

    wait_until(lambda: state_of(run) == RunState.DONE)
    assert run.scores.count() == 12


@pytest.mark.slow
def test_a_killed_workers_run_is_finished_by_another_without_paying_twice(
    small_project: Project, make_judge: Callable[..., Judge], start_worker: StartWorker
) -> None:
    judge = make_judge(small_project, "--latency", "0.3", use_steps=False, concurrency=1)
    first = start_worker()
    run = started(judge)
    wait_until(lambda: run.scores.count() >= 3)

    first.kill()
    stored = run.scores.count()
    # The clock is the one thing mocked: the lost worker's leases and heartbeat would run out within
    # the minute.
    run.items.filter(state=ItemState.LEASED).update(lease_until=timezone.now())
    WorkerHeartbeat.objects.all().delete()
    start_worker()

    wait_until(lambda: state_of(run) == RunState.DONE)
    assert 3 <= stored < 12
    assert run.scores.count() == 12
    assert set(run.items.values_list("state", flat=True)) == {ItemState.DONE}


@pytest.mark.slow
def test_a_worker_asked_to_stop_leaves_nothing_leased(
    small_project: Project, make_judge: Callable[..., Judge], start_worker: StartWorker
) -> None:
    judge = make_judge(small_project, "--latency", "0.3", use_steps=False, concurrency=1)
    worker = start_worker()
    run = started(judge)
    wait_until(run.scores.exists)

    worker.process.send_signal(signal.SIGTERM)
    worker.process.wait(30)

    assert not run.items.filter(state=ItemState.LEASED).exists()
    assert not WorkerHeartbeat.objects.exists()


@pytest.mark.parametrize("lost", ["the message", "the preparer"])
def test_a_run_nobody_works_on_is_found(
    small_project: Project, make_judge: Callable[..., Judge], lost: str
) -> None:
    run = started(make_judge(small_project, base_url="http://127.0.0.1:1/v1"))
    if lost == "the preparer":
        EvaluationRun.objects.update(preparer_until=timezone.now() - timezone.timedelta(seconds=1))

    assert waiting_run() == run.pk


def test_a_run_somebody_works_on_is_left_alone(
    small_project: Project, make_judge: Callable[..., Judge]
) -> None:
    run = started(make_judge(small_project, base_url="http://127.0.0.1:1/v1"))
    lay_out_run(run.pk)
    leases.claim(run.pk, "a", most=11)
    assert waiting_run() == run.pk
    leases.claim(run.pk, "b", most=1)

    assert waiting_run() is None
