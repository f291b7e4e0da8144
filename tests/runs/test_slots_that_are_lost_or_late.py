"""What would keep a slot, or all of them, from work: a thread that comes back late, a row that
somebody holds, a promise that is not kept, a worker that deals with its last run."""

import asyncio
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils import timezone

from evaluations.corpus.store import LoadResult
from evaluations.judging.runs import serving
from evaluations.judging.runs.database import Database
from evaluations.judging.runs.lifecycle import cancel_run, lay_out_run
from evaluations.judging.runs.scheduling import choose_run, waiting_run
from evaluations.judging.runs.serving import (
    PROMISE_SECONDS,
    ServingTurn,
    release_lost_slots,
    work_on_runs,
)
from evaluations.judging.runs.share import RunShare
from evaluations.judging.runs.shift import Shift
from evaluations.judging.runs.starting import RunRequest, start_run
from evaluations.management import heartbeat
from evaluations.management.heartbeat import Offer, Pulse, beat
from evaluations.models import (
    Batch,
    EvaluationRun,
    ItemState,
    Judge,
    Project,
    RunState,
    WorkerSlot,
)
from evaluations.people import waking
from geval_site.queues import RUNS
from tests.conftest import OUTPUTS, RATINGS
from tests.consumers import Consumer

pytestmark = pytest.mark.django_db(transaction=True)
WORKER = "here:1"
MakeJudge = Callable[..., Judge]


def stay() -> bool:
    return False


def started(judge: Judge, **more: Any) -> EvaluationRun:
    return start_run(judge, list(judge.project.criteria.all()), RunRequest(**more))


def taken() -> WorkerSlot:
    slot = WorkerSlot.objects.take(WORKER)
    assert slot
    return slot


@pytest.fixture
def messages(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    sent: list[str] = []
    monkeypatch.setattr(waking.app, "send_task", lambda task, *_all, **_more: sent.append(task))
    return sent


@pytest.fixture
def other(load: Callable[..., LoadResult]) -> Project:
    project = Project.objects.create(slug="other", name="other")
    load(project, {"outputs.jsonl": OUTPUTS, "ratings.csv": RATINGS})
    return project


def test_a_thread_that_gives_its_slot_back_late_frees_nobody_elses() -> None:
    beat(WORKER, Offer((RUNS,), 1))
    late = taken()
    WorkerSlot.objects.update(taken_at=timezone.now() - timedelta(minutes=1))
    release_lost_slots(WORKER)
    taken()

    WorkerSlot.objects.release(late)
    WorkerSlot.objects.beat(late)

    assert WorkerSlot.objects.take(WORKER) is None


def test_a_thread_whose_slot_is_gone_ends_its_turn_and_the_new_slot_has_another_name(
    small_project: Project, make_judge: MakeJudge
) -> None:
    beat(WORKER, Offer((RUNS,), 1))
    run = started(make_judge(small_project, use_steps=False))
    slot = taken()
    assert choose_run(slot) == run.pk
    turn = ServingTurn(slot, run.pk, stay, seconds=0)
    assert not turn.gives_way()
    WorkerSlot.objects.all().delete()
    beat(WORKER, Offer((RUNS,), 1))

    assert turn.gives_way()
    assert turn.following is None
    assert taken().name != slot.name


def test_a_run_whose_row_somebody_holds_keeps_no_slot_waiting(
    small_project: Project, other: Project, make_judge: MakeJudge
) -> None:
    beat(WORKER, Offer((RUNS,), 2))
    runs = {started(make_judge(project, use_steps=False)).pk for project in (small_project, other)}
    slots = [taken(), taken()]
    chosen: list[int | None] = []

    def choose(slot: WorkerSlot) -> None:
        chosen.append(choose_run(slot))
        connection.close()

    threads = [threading.Thread(target=choose, args=[slot]) for slot in slots]
    with transaction.atomic():
        list(EvaluationRun.objects.select_for_update())
        for thread in threads:
            thread.start()
            thread.join(20)

    assert set(chosen) == runs


def test_a_run_that_follows_is_free_for_others_where_calls_take_long(
    small_project: Project, other: Project, make_judge: MakeJudge, monkeypatch: pytest.MonkeyPatch
) -> None:
    beat(WORKER, Offer((RUNS,), 1))
    run = started(make_judge(small_project, use_steps=False))
    slot = taken()
    choose_run(slot)
    turn = ServingTurn(slot, run.pk, stay, seconds=0)
    follows = started(make_judge(other, use_steps=False))
    assert turn.gives_way()
    turn.stop_requested()
    assert (turn.following, WorkerSlot.objects.get().run_id) == (follows.pk, follows.pk)

    now = time.monotonic()
    monkeypatch.setattr(serving.time, "monotonic", lambda: now + PROMISE_SECONDS + 1)
    turn.stop_requested()

    assert turn.gives_way()  # it still ends
    assert (turn.following, WorkerSlot.objects.get().run_id) == (None, run.pk)


def test_a_share_that_gives_way_still_hears_and_shows_that_it_lives(
    small_project: Project, make_judge: MakeJudge
) -> None:
    run = started(make_judge(small_project, use_steps=False))
    lay_out_run(run.pk)
    run.refresh_from_db()
    asked: list[float] = []

    def told() -> bool:
        asked.append(time.monotonic())
        return False

    async def look() -> tuple[bool, int, bool]:
        database = Database()
        share = RunShare(run, "w", database, Shift(told, gives_way=lambda: True))
        watching = asyncio.create_task(share.watch(every=0.02))
        await asyncio.wait_for(share.stopped.wait(), 20)
        gives_way, count = not share.halted.is_set(), len(asked)
        while len(asked) < count + 3:
            await asyncio.sleep(0.02)
        await database.call(lambda: cancel_run(run.pk, "Enough."))
        await asyncio.wait_for(watching, 20)
        await database.close()
        return gives_way, len(asked) - count, share.halted.is_set()

    gives_way, more, halted = asyncio.run(look())
    assert gives_way
    assert more >= 3
    assert halted


def test_a_run_in_batches_that_a_lost_worker_looked_after_sends_no_messages_round(
    small_project: Project, make_judge: MakeJudge, messages: list[str]
) -> None:
    beat(WORKER, Offer((RUNS,), 2))
    run = started(make_judge(small_project, use_steps=False), transport="batch")
    lay_out_run(run.pk)
    run.items.update(state=ItemState.DONE)
    later = timezone.now() + timedelta(minutes=4)
    EvaluationRun.objects.update(state=RunState.RUNNING, preparer_until=later)
    messages.clear()
    WorkerSlot.objects.update(called_at=None)
    assert waiting_run() is None

    work_on_runs(WORKER, stay)

    assert messages == []
    EvaluationRun.objects.update(preparer_until=None)
    assert waiting_run() == run.pk


@pytest.mark.parametrize("state", [Batch.State.SENDING, Batch.State.SENT])
def test_a_step_with_a_batch_that_failed_is_not_tried_again_at_once(
    small_project: Project, make_judge: MakeJudge, state: str
) -> None:
    run = started(make_judge(small_project, use_steps=False), transport="batch")
    lay_out_run(run.pk)
    later = timezone.now() + timedelta(seconds=5)
    batch = Batch.objects.create(run=run, state=state, failures=1, look_at=later)
    assert waiting_run() is None  # nor are the items that wait for another batch sent

    Batch.objects.update(look_at=timezone.now())
    assert waiting_run() == run.pk
    Batch.objects.update(look_at=later, failures=0)
    assert waiting_run() == run.pk  # items may be sent beside one that is at the endpoint
    assert batch.run_id == run.pk


def test_the_heart_survives_whatever_a_look_meets(monkeypatch: pytest.MonkeyPatch) -> None:
    beats: list[int] = []

    def fails(_name: str) -> None:
        beats.append(1)
        if len(beats) == 3:
            heartbeat.leaving.set()
        raise RuntimeError

    monkeypatch.setattr(heartbeat, "release_lost_slots", fails)
    monkeypatch.setattr(heartbeat, "BEAT_SECONDS", 0.01)
    try:
        heartbeat._keep_beating(Offer((RUNS,), 1), Pulse(Consumer()))
    finally:
        heartbeat.leaving.clear()

    assert len(beats) == 3
