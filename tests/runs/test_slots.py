"""Slots of workers: called by messages that are never more than the free ones, and taken once."""

import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from evaluations.corpus.store import LoadResult
from evaluations.judging.runs import serving
from evaluations.judging.runs.lifecycle import lay_out_run
from evaluations.judging.runs.scheduling import choose_run, waiting_run
from evaluations.judging.runs.serving import ServingTurn, grant_calls, work_on_runs
from evaluations.judging.runs.starting import start_run
from evaluations.management.heartbeat import Offer, beat
from evaluations.management.upkeep import JOBS
from evaluations.models import EvaluationRun, Judge, Project, RunState, WorkerHeartbeat, WorkerSlot
from evaluations.people import waking
from geval_site.queues import JUDGE_RUNS, RUNS
from tests.conftest import OUTPUTS, RATINGS

pytestmark = pytest.mark.django_db(transaction=True)
WORKER = "here:1"
MakeJudge = Callable[..., Judge]


@pytest.fixture
def messages(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """What is sent to the broker, in order."""
    sent: list[tuple[Any, ...]] = []
    monkeypatch.setattr(
        waking.app, "send_task", lambda task, args, kwargs, **_more: sent.append((task, *args))
    )
    return sent


@pytest.fixture
def project_of(load: Callable[..., LoadResult]) -> Callable[[str], Project]:
    """Another project with two outputs of three documents."""

    def make(slug: str) -> Project:
        project = Project.objects.create(slug=slug, name=slug)
        load(project, {"outputs.jsonl": OUTPUTS, "ratings.csv": RATINGS})
        return project

    return make


def stay() -> bool:
    return False


def a_worker(slots: int, *, name: str = WORKER, jobs: tuple[str, ...] = (RUNS,)) -> None:
    beat(name, Offer(jobs, slots))


def started(judge: Judge) -> EvaluationRun:
    return start_run(judge, list(judge.project.criteria.all()))


def test_a_run_that_starts_calls_a_slot_by_a_message_without_a_run(
    small_project: Project, make_judge: MakeJudge, messages: list[Any]
) -> None:
    a_worker(2)

    started(make_judge(small_project))

    assert messages == [(JUDGE_RUNS,)]


def test_no_slot_is_called_twice_before_its_message_expires(messages: list[Any]) -> None:
    a_worker(2)

    for _ in range(5):
        waking.wake_for_runs("small")
    assert len(messages) == 2

    WorkerSlot.objects.update(called_at=timezone.now() - WorkerSlot.CALL_EXPIRES)
    waking.wake_for_runs("small", slots=5)
    assert len(messages) == 4


def test_slots_at_work_and_those_of_lost_or_leaving_workers_are_not_called(
    messages: list[Any],
) -> None:
    a_worker(1)
    a_worker(1, name="lost:1")
    a_worker(1, name="leaving:1")
    a_worker(1, name="frozen:1")
    a_worker(0, name="other:1", jobs=("quick",))
    WorkerHeartbeat.objects.filter(name="lost:1").update(
        seen_at=timezone.now() - WorkerHeartbeat.STALE_AFTER
    )
    WorkerHeartbeat.objects.filter(name="leaving:1").update(leaving=True)
    WorkerHeartbeat.objects.filter(name="frozen:1").update(trouble="It does not answer.")

    waking.wake_for_runs("small", slots=9)
    assert len(messages) == 1

    WorkerSlot.objects.update(called_at=None)
    assert WorkerSlot.objects.take(WORKER)
    waking.wake_for_runs("small", slots=9)
    assert len(messages) == 1


def test_a_worker_of_one_project_is_called_for_that_one_alone(messages: list[Any]) -> None:
    a_worker(1, jobs=("runs:small",))

    waking.wake_for_runs("large")
    assert messages == []
    waking.wake_for_runs("small")
    assert len(messages) == 1


def test_a_slot_is_taken_once_and_given_back() -> None:
    a_worker(1)

    slot = WorkerSlot.objects.take(WORKER)
    assert slot
    assert slot.name == f"here:1:{slot.pk}"
    assert WorkerSlot.objects.take(WORKER) is None
    WorkerSlot.objects.release(slot)
    assert WorkerSlot.objects.take(WORKER) == slot


def test_a_worker_that_was_thought_lost_has_its_slots_again() -> None:
    a_worker(2)
    WorkerSlot.objects.all().delete()

    a_worker(2)

    assert WorkerSlot.objects.free().count() == 2


def test_slots_of_workers_that_are_forgotten_go_with_them() -> None:
    a_worker(1, name="old:1")
    WorkerHeartbeat.objects.update(seen_at=timezone.now() - timedelta(hours=2))

    a_worker(1)

    assert [slot.worker for slot in WorkerSlot.objects.all()] == [WORKER]


@pytest.mark.parametrize(
    ("jobs", "threads", "slots"),
    [
        (["geval"], 4, 4),
        (["geval", "geval_quick"], 4, 3),
        (["geval", "geval_quick"], 1, 1),
        (["geval_quick"], 4, 0),
    ],
)
def test_one_thread_is_kept_for_other_jobs(
    jobs: list[str], threads: int, slots: int, settings: Any
) -> None:
    settings.QUEUES = {"runs": "geval", "quick": "geval_quick"}

    assert Offer.of(jobs, threads).slots == slots


def test_a_slot_serves_all_runs_and_calls_another_that_can_be_used(
    small_project: Project, make_judge: MakeJudge, messages: list[Any]
) -> None:
    a_worker(2)
    runs = [started(make_judge(small_project, name=name, use_steps=False)) for name in "ab"]
    messages.clear()
    WorkerSlot.objects.update(called_at=None)

    work_on_runs(WORKER, stay)

    states = EvaluationRun.objects.in_bulk([run.pk for run in runs]).values()
    assert {run.state for run in states} == {RunState.DONE}
    assert messages == [(JUDGE_RUNS,)]
    assert WorkerSlot.objects.free().count() == 2
    assert all(run.served_at for run in states)


def test_a_worker_that_leaves_takes_no_run(small_project: Project, make_judge: MakeJudge) -> None:
    a_worker(1)
    started(make_judge(small_project, use_steps=False))

    work_on_runs(WORKER, lambda: True)

    assert waiting_run() is not None
    assert WorkerSlot.objects.free().count() == 1


def test_a_slot_stays_with_its_run_until_another_has_a_better_claim(
    small_project: Project, make_judge: MakeJudge, project_of: Callable[[str], Project]
) -> None:
    a_worker(1)
    run = started(make_judge(small_project, use_steps=False))
    slot = WorkerSlot.objects.take(WORKER)
    assert slot
    assert choose_run(slot) == run.pk
    turn = ServingTurn(slot, run.pk, stay, seconds=0)
    assert not turn.gives_way()

    other = started(make_judge(project_of("other"), name="b", use_steps=False))

    assert turn.gives_way()
    assert turn.following == other.pk
    assert WorkerSlot.objects.get().run_id == other.pk


def test_a_slot_shows_that_it_lives_while_it_serves(
    small_project: Project, make_judge: MakeJudge
) -> None:
    a_worker(1)
    run = started(make_judge(small_project, use_steps=False))
    slot = WorkerSlot.objects.take(WORKER)
    assert slot
    choose_run(slot)
    WorkerSlot.objects.update(seen_at=timezone.now() - WorkerSlot.STALE_AFTER)
    assert not WorkerSlot.objects.serving().exists()

    ServingTurn(slot, run.pk, stay, seconds=60).stop_requested()

    assert WorkerSlot.objects.serving().count() == 1
    WorkerHeartbeat.objects.update(seen_at=timezone.now() - WorkerHeartbeat.STALE_AFTER)
    assert not WorkerSlot.objects.serving().exists()


def test_slots_that_choose_at_once_choose_different_runs(
    small_project: Project, make_judge: MakeJudge, project_of: Callable[[str], Project]
) -> None:
    a_worker(4)
    projects = [small_project, *(project_of(name) for name in ("p", "q", "r"))]
    runs = {started(make_judge(project, use_steps=False)).pk for project in projects}
    chosen: list[int | None] = []

    def choose() -> None:
        slot = WorkerSlot.objects.take(WORKER)
        assert slot
        chosen.append(choose_run(slot))
        connection.close()

    threads = [threading.Thread(target=choose) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert set(chosen) == runs


def test_a_run_for_which_a_slot_can_do_nothing_keeps_it_from_no_other(
    small_project: Project, make_judge: MakeJudge, monkeypatch: pytest.MonkeyPatch
) -> None:
    a_worker(1)
    run = started(make_judge(small_project, use_steps=False))
    served: list[int] = []
    monkeypatch.setattr(serving, "work_on_run", lambda pk, *_all, **_more: served.append(pk))

    work_on_runs(WORKER, stay)

    assert served == [run.pk]


def test_upkeep_calls_a_few_slots_and_only_if_there_is_work(
    small_project: Project, make_judge: MakeJudge, messages: list[Any]
) -> None:
    job = next(job for job in JOBS if job.name == "runs")
    a_worker(6)
    job.act()
    assert messages == []
    started(make_judge(small_project))
    messages.clear()
    WorkerSlot.objects.update(called_at=None)

    job.act()

    assert len(messages) == 4


@pytest.mark.parametrize(("slots", "parts"), [(1, {5}), (2, {2, 3}), (4, {1, 2})])
def test_slots_of_a_judge_share_its_calls_in_flight(
    small_project: Project, make_judge: MakeJudge, slots: int, parts: set[int]
) -> None:
    a_worker(4)
    judge = make_judge(small_project, use_steps=False, concurrency=5)
    lay_out_run(started(judge).pk)
    taken = [WorkerSlot.objects.take(WORKER) for _ in range(slots)]
    for slot in taken:
        assert slot
        slot.run_id = choose_run(slot)

    shares = [grant_calls(5, slot, are_open=0) for slot in taken if slot]

    assert set(shares) == parts
    assert sum(shares) == 5


def test_a_slot_that_joins_waits_until_the_others_have_ended_what_is_too_much(
    small_project: Project, make_judge: MakeJudge
) -> None:
    a_worker(2)
    lay_out_run(started(make_judge(small_project, use_steps=False, concurrency=5)).pk)
    first, second = (WorkerSlot.objects.take(WORKER) for _ in range(2))
    assert first
    assert second

    first.run_id = choose_run(first)
    assert grant_calls(5, first, are_open=0) == 5
    second.run_id = choose_run(second)

    assert grant_calls(5, second, are_open=0) == 0
    assert grant_calls(5, first, are_open=5) == 3
    assert grant_calls(5, second, are_open=0) == 0
    assert grant_calls(5, first, are_open=3) == 3
    assert grant_calls(5, second, are_open=0) == 2


def test_a_slot_that_could_not_be_given_back_is_free_again_after_a_while(
    small_project: Project, make_judge: MakeJudge
) -> None:
    a_worker(2)
    lost, at_work = (WorkerSlot.objects.take(WORKER) for _ in range(2))
    assert lost
    assert at_work
    serving.release_lost_slots(WORKER)
    assert not WorkerSlot.objects.free().exists()

    WorkerSlot.objects.update(taken_at=timezone.now() - serving.BEGINNING)
    serving._at_work.add(at_work.pk)
    try:
        serving.release_lost_slots(WORKER)
    finally:
        serving._at_work.clear()

    assert list(WorkerSlot.objects.free()) == [lost]
