"""A worker's slot at work: one run after another, as scheduling.py chooses, with the calls that it
may have open: its part of its judge's limit, and of its endpoint's limit, which the projects with
the same account share.

An endpoint's limit holds over all slots that serve a run of its account, in any project. Projects
get parts as equal as they can use, and the slots of each project divide its part in the same way.
If there are more slots than calls, they take turns.

A slot never gets more calls than the others leave: calls granted to another slot count until the
last of them has ended.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Sum
from django.db.models.fields.json import KT
from django.db.models.functions import Now

from evaluations.judging.runs.database import patiently
from evaluations.judging.runs.scheduling import choose_run, leave, waiting_run
from evaluations.judging.runs.shift import Shift
from evaluations.judging.runs.worker import work_on_run
from evaluations.models import Endpoint, EvaluationRun, WorkerSlot
from evaluations.people.waking import wake_for_runs
from geval.llm.run_parameters import RunParameters
from geval_site.sql import fetch_row

# Where there are more slots than calls, each turn lasts this long. Passing a call from one slot to
# another wastes about a second.
SHARED_CALL_SECONDS = 15.0
# Any constant: slots of one account count one at a time.
_LOCK = 0x63616C6C
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
# How often a slot's part of the calls is recomputed; until then another slot that joins waits.
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


# How many calls a slot may have open


@dataclass(frozen=True)
class CallingSlot:
    """A slot that serves a run, as this rule sees it.

    Args:
        slot: its id.
        concurrency: how many calls its judge may have open, over all slots.
        limit: how many calls its endpoint may have open, over all slots; None for no limit.
    """

    slot: int
    project: int
    judge: int
    concurrency: int
    limit: int | None = None


def divide_calls(calls: int, wanted: Sequence[int], *, turn: int = 0) -> list[int]:
    """Divide `calls` among parties that want some, as equally as they can use them.

    Args:
        turn: which party comes first if there are fewer calls than parties; otherwise the first one
            does.
    """
    parts = [0] * len(wanted)
    first = turn % len(wanted) if calls < len(wanted) else 0
    order = [*range(first, len(wanted)), *range(first)]
    left = calls
    while left and (hungry := [each for each in order if parts[each] < wanted[each]]):
        step = max(1, min(left // len(hungry), *(wanted[each] - parts[each] for each in hungry)))
        for each in hungry[:left]:
            parts[each] += step
            left -= step
    return parts


def parts_of_judges(callers: Sequence[CallingSlot], *, turn: int = 0) -> dict[int, int]:
    """Return how many calls each slot may have open under its judge's limit: equal parts for all
    slots that serve the judge; `turn` as for `divide_calls`."""
    of_judge: dict[int, list[CallingSlot]] = {}
    for caller in callers:
        of_judge.setdefault(caller.judge, []).append(caller)
    parts: dict[int, int] = {}
    for together in of_judge.values():
        wanted = [caller.concurrency for caller in together]
        divided = divide_calls(max(wanted), wanted, turn=turn)
        parts |= zip([caller.slot for caller in together], divided, strict=True)
    return parts


def part_of_limit(
    caller: CallingSlot, callers: Sequence[CallingSlot], *, granted: int = 0, turn: int = 0
) -> int:
    """Return how many calls a slot may have open under its endpoint's limit, and its judge's.

    Each slot's own limit counts, so that a project with a lower limit does not slow down another;
    all together never exceed the highest limit.

    Args:
        granted: how many calls the other slots are currently granted.
        turn: as for `divide_calls`.
    """
    assert caller.limit is not None
    # If turns of judges and of the endpoint advanced in step, some slots would never get a call.
    wanted = parts_of_judges(callers, turn=turn // len(callers))
    of_project: dict[int, list[int]] = {}
    for each in callers:
        of_project.setdefault(each.project, []).append(each.slot)
    wanted_by_projects = [sum(wanted[slot] for slot in slots) for slots in of_project.values()]
    parts = dict(
        zip(of_project, divide_calls(caller.limit, wanted_by_projects, turn=turn), strict=True)
    )
    ours = of_project[caller.project]
    # Within a project the turn advances once all projects have had theirs: if both advanced in
    # step, some slots would never get a call.
    of_slot = divide_calls(
        parts[caller.project], [wanted[slot] for slot in ours], turn=turn // len(of_project)
    )
    left = max(each.limit or 0 for each in callers) - granted
    return max(0, min(of_slot[ours.index(caller.slot)], left))


def grant_calls(calls: int, slot: WorkerSlot, *, are_open: int) -> int:
    """Return how many calls a slot may have open from now on. Open calls beyond that are completed.

    Args:
        calls: how many calls the judge of its run may have open.
        are_open: how many the slot has open, or may open before it learns of its new part.
    """
    if slot.run_id is None:
        return calls
    endpoint = Endpoint.objects.filter(judges__runs=slot.run_id).first()
    if endpoint is None:
        return calls
    # Until a worker has read an endpoint's account, the endpoint counts alone.
    account = endpoint.account or f"endpoint {endpoint.pk}"
    with transaction.atomic():
        _, now = fetch_row(
            """SELECT pg_advisory_xact_lock(%s, hashtext(%s)),
                extract(epoch FROM clock_timestamp())::float""",
            [_LOCK, account],
        )
        callers = _serving_slots(endpoint)
        own_caller = next((caller for caller in callers if caller.slot == slot.pk), None)
        # Other slots ignore a slot without a recent heartbeat, so it gets no part.
        granted = 0
        if own_caller is not None:
            # Includes slots that are still ending calls for this account while they serve another
            # run.
            others = WorkerSlot.objects.serving().exclude(pk=slot.pk).filter(account=account)
            runs = EvaluationRun.objects.filter(judge=own_caller.judge).values("pk")
            of_judge, of_account = (
                rows.aggregate(calls=Sum("calls"))["calls"] or 0
                for rows in (others.filter(run_id__in=runs), others)
            )
            turn = int(now / SHARED_CALL_SECONDS)
            if own_caller.limit is None:
                part = parts_of_judges(callers, turn=turn)[slot.pk]
            else:
                part = part_of_limit(own_caller, callers, granted=of_account, turn=turn)
            most = max(each.concurrency for each in callers if each.judge == own_caller.judge)
            granted = max(0, min(part, most - of_judge))
        mine_row = WorkerSlot.objects.as_taken(slot)
        mine_row.update(account=account, calls=max(granted, are_open))
    return granted


def _serving_slots(endpoint: Endpoint | None) -> list[CallingSlot]:
    """Return the slots that now serve a run of an endpoint's account; of the endpoint alone if no
    worker has read its account yet."""
    runs = EvaluationRun.objects.active().order_by()
    if endpoint is not None and endpoint.account:
        runs = runs.filter(judge__endpoint__account=endpoint.account)
    else:
        runs = runs.filter(judge__endpoint=endpoint)
    rows = runs.annotate(concurrency=KT("parameters__concurrency")).values_list(
        "pk", "project_id", "judge_id", "concurrency", "judge__endpoint__parallel_calls"
    )
    usual = RunParameters.concurrency
    of_run = {
        pk: CallingSlot(0, project, judge, int(calls or usual), limit)
        for pk, project, judge, calls, limit in rows
    }
    slots = WorkerSlot.objects.serving().filter(run_id__in=list(of_run))
    return [
        replace(of_run[run_id], slot=slot)
        for slot, run_id in slots.values_list("pk", "run_id")
        if run_id is not None
    ]


def end_calls(slot: WorkerSlot) -> None:
    """Record that a slot has no open calls any more."""
    WorkerSlot.objects.as_taken(slot).filter(calls__gt=0).update(calls=None)
