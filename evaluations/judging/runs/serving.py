"""A worker's slot at work: one run after another, as scheduling.py chooses."""

import functools
import time
from collections.abc import Callable, Sequence
from datetime import timedelta

from django.conf import settings
from django.db.models.functions import Now

from evaluations.judging.runs.call_parts import end_calls, grant_calls
from evaluations.judging.runs.database import patiently
from evaluations.judging.runs.scheduling import choose_run, leave, waiting_run
from evaluations.judging.runs.shift import Shift
from evaluations.judging.runs.worker import work_on_run
from evaluations.models import EvaluationRun, WorkerSlot
from evaluations.people.waking import wake_for_runs

# How long a slot stays with a run before it checks for a better claim: long enough to be worth the
# few calls that drain meanwhile, and short enough for twenty projects to begin on six slots within
# half a minute.
TURN_SECONDS = 5.0
# Local evaluators load their data or model first.
COMPUTING_SECONDS = 60.0
# Brokers hand a message to another worker if it is not acknowledged for long: pgmq after 10
# minutes, RabbitMQ after 30. So a slot ends after this time, and sends a message for its successor.
MESSAGE_SECONDS = 300.0
# Far below `WorkerSlot.STALE_AFTER`, at one statement per beat.
BEAT_SECONDS = 5.0
# How often a slot's part of the calls is recomputed; until then a judge may exceed its limit when
# another slot joins.
COUNT_SECONDS = 0.5
# How long the next run counts as served while the slot ends its calls for the current one.
PROMISE_SECONDS = 15.0
# How long a run that had no work for a slot is avoided; otherwise the slot would poll it
# constantly.
FRUITLESS_SECONDS = 2.0
# Time between claiming a slot's row and adding it to `_at_work`.
BEGINNING = timedelta(seconds=30)
_at_work: set[int] = set()


class ServingTurn:
    """A slot's time with a run. The methods are called in the database thread.

    Args:
        leaves: whether the worker was asked to stop.
        seconds: interval between checks whether another run has a better claim.
    """

    def __init__(
        self, slot: WorkerSlot, run_id: int, leaves: Callable[[], bool], *, seconds: float
    ) -> None:
        self.slot = slot
        self.slot.run_id = self.run_id = run_id
        self._leaves = leaves
        self._seconds = seconds
        self._looks_at = time.monotonic() + seconds
        self._beats_at = self._counts_at = 0.0
        self._calls = 1
        self._is_over = False
        self._promised_at = 0.0
        self.following: int | None = None

    def stop_requested(self) -> bool:
        """Whether the worker is leaving. Also renews the slot's heartbeat and releases an expired
        promise."""
        now = time.monotonic()
        if now >= self._beats_at:
            self._beats_at = now + BEAT_SECONDS
            WorkerSlot.objects.beat(self.slot)
        if self.following is not None and now > self._promised_at + PROMISE_SECONDS:
            # Long calls are still in flight, so another slot may serve the next run.
            self.following = None
            WorkerSlot.objects.as_taken(self.slot).update(run_id=self.run_id)
        return self._leaves()

    def calls(self, most: int, are_open: int) -> int:
        """Return how many of the judge's calls this slot may have in flight now, given how many it
        has open."""
        if time.monotonic() >= self._counts_at:
            self._counts_at = time.monotonic() + COUNT_SECONDS
            self._calls = grant_calls(most, self.slot, are_open=are_open)
        return self._calls

    def gives_way(self) -> bool:
        """Whether another run has a better claim, which then counts as served, or the slot was
        released."""
        if not self._is_over and time.monotonic() >= self._looks_at:
            self._looks_at = time.monotonic() + self._seconds
            chosen = choose_run(self.slot)
            if chosen != self.run_id:
                self._is_over, self.following = True, chosen
                self._promised_at = time.monotonic()
        return self._is_over


def work_on_runs(worker: str, leaves: Callable[[], bool]) -> None:
    """Serve runs with a free slot of a worker until none has work for it or the message's time is
    over; without a free slot do nothing.

    Args:
        leaves: whether the worker was asked to stop.
    """
    slot = patiently(lambda: WorkerSlot.objects.take(worker))
    if slot is None:
        return
    _at_work.add(slot.pk)
    try:
        avoided = _serve(slot, leaves)
    finally:
        _at_work.discard(slot.pk)
        patiently(lambda: WorkerSlot.objects.release(slot))
    # A run may have been started while no slot was free here, relying on this slot.
    if not leaves():
        patiently(functools.partial(call_another_slot, avoided))


def release_lost_slots(worker: str) -> None:
    """Release slots that no thread of this process is using, because the database was unavailable
    when they were to be released."""
    taken = WorkerSlot.objects.filter(worker=worker, taken_at__lt=Now() - BEGINNING)
    taken.exclude(pk__in=list(_at_work)).give_back()


def call_another_slot(avoided: Sequence[int] = ()) -> None:
    """Wake a free slot if a run has work for one. That slot does the same, so that as many slots
    wake as there is work for.

    Args:
        avoided: as for `rank_runs`.
    """
    project = settings.ONLY_PROJECT
    if WorkerSlot.objects.of_live_workers(project).callable().exists() and waiting_run(avoided):
        wake_for_runs(project)


def _serve(slot: WorkerSlot, leaves: Callable[[], bool]) -> list[int]:
    """Serve runs; return the ids of those that recently had no work for this slot."""
    ends = time.monotonic() + MESSAGE_SECONDS
    fruitless: dict[int, float] = {}
    following: int | None = None
    avoided: list[int] = []
    while not leaves() and time.monotonic() < ends:
        avoided = [pk for pk, until in fruitless.items() if until > time.monotonic()]
        run_id = following or patiently(functools.partial(choose_run, slot, avoided=avoided))
        if run_id is None:
            break
        patiently(functools.partial(call_another_slot, avoided))
        begun = time.monotonic()
        following = _take_turn(slot, run_id, leaves, ends)
        if time.monotonic() - begun < FRUITLESS_SECONDS / 10:
            fruitless[run_id] = time.monotonic() + FRUITLESS_SECONDS
    return avoided


def _take_turn(
    slot: WorkerSlot, run_id: int, leaves: Callable[[], bool], ends: float
) -> int | None:
    """Work on a run; return the run to serve next if the slot gave way to one."""
    asking = EvaluationRun.objects.filter(pk=run_id, judge__endpoint__isnull=False)
    asks = patiently(asking.exists)
    turn = ServingTurn(slot, run_id, leaves, seconds=TURN_SECONDS if asks else COMPUTING_SECONDS)
    shift = Shift(turn.stop_requested, ends, turn.gives_way, turn.calls)
    try:
        work_on_run(run_id, slot.name, shift=shift)
    finally:
        patiently(lambda: end_calls(slot))
        if turn.following is None:
            patiently(lambda: leave(slot))
    return turn.following
