"""How many calls a slot may have open: its part of its judge's limit, and of its endpoint's limit,
which the projects with the same account share.

An endpoint's limit holds over all slots that serve a run of its account, in any project. Projects
get parts as equal as they can use, and the slots of each project divide its part in the same way.
If there are more slots than calls, they take turns.

A slot never gets more calls than the others leave: calls granted to another slot count until the
last of them has ended.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.db import connection, transaction
from django.db.models import Sum
from django.db.models.fields.json import KT

from evaluations.models import Endpoint, EvaluationRun, WorkerSlot
from geval.llm.run_parameters import RunParameters

# Where there are more slots than calls, each turn lasts this long. Passing a call from one slot to
# another wastes about a second.
TURN_SECONDS = 15.0
# Any constant: slots of one account count one at a time.
_LOCK = 0x63616C6C


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


def parts_of_judges(callers: Sequence[CallingSlot]) -> dict[int, int]:
    """Return how many calls each slot may have open under its judge's limit: equal parts for all
    slots that serve the judge, up to rounding."""
    of_judge: dict[int, list[CallingSlot]] = {}
    for caller in callers:
        of_judge.setdefault(caller.judge, []).append(caller)
    return {
        caller.slot: max(1, (caller.concurrency + place) // len(together))
        for together in of_judge.values()
        for place, caller in enumerate(reversed(together))
    }


def part_of_limit(
    caller: CallingSlot, callers: Sequence[CallingSlot], *, granted: int = 0, turn: int = 0
) -> int:
    """Return how many calls a slot may have open under its endpoint's limit.

    Each slot's own limit counts, so that a project with a lower limit does not slow down another;
    all together never exceed the highest limit.

    Args:
        granted: how many calls the other slots are currently granted.
        turn: as for `divide_calls`.
    """
    assert caller.limit is not None
    wanted = parts_of_judges(callers)
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
    if endpoint is None or endpoint.parallel_calls is None:
        return parts_of_judges(_serving_slots(endpoint)).get(slot.pk, calls)
    # Until a worker has read an endpoint's account, the endpoint counts alone.
    account = endpoint.account or f"endpoint {endpoint.pk}"
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            """SELECT pg_advisory_xact_lock(%s, hashtext(%s)),
                extract(epoch FROM clock_timestamp())::float""",
            [_LOCK, account],
        )
        _, now = cursor.fetchone()
        callers = _serving_slots(endpoint)
        own_caller = next((caller for caller in callers if caller.slot == slot.pk), None)
        # Other slots ignore a slot without a recent heartbeat, so it gets no part.
        granted = 0
        if own_caller is not None:
            # Includes slots that are still ending calls for this account while they serve another
            # run.
            others = WorkerSlot.objects.serving().exclude(pk=slot.pk)
            counted = others.filter(account=account).aggregate(calls=Sum("calls"))
            turn = int(now / TURN_SECONDS)
            part = part_of_limit(own_caller, callers, granted=counted["calls"] or 0, turn=turn)
            granted = min(part, parts_of_judges(callers)[slot.pk])
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
