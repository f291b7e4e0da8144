"""How many calls a slot may have open: its part of what its judge may, and of what its endpoint
may, which projects with the same account share.

A limit of an endpoint is kept over all slots that serve a run of its account, whichever their
projects. Projects get parts as equal as they can use, and the slots of each project share its part
in the same way. Where there are more slots than calls they take turns.

A slot never gets more calls than the others leave: what another one was granted counts until the
last of these calls has ended.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.db import connection, transaction
from django.db.models import Sum
from django.db.models.fields.json import KT

from evaluations.models import Endpoint, EvaluationRun, WorkerSlot
from geval.llm.run_parameters import RunParameters

# Of more slots than calls each has its turn for so long. While a call goes from one to the other
# about a second is lost.
TURN_SECONDS = 15.0
# Any constant: slots of one account count one after the other.
_LOCK = 0x63616C6C


@dataclass(frozen=True)
class Caller:
    """A slot that serves a run, as this rule sees it.

    Args:
        slot: its id.
        concurrency: how many calls its judge may have open, over all slots.
        limit: how many its endpoint may, over all slots; None for any number.
    """

    slot: int
    project: int
    judge: int
    concurrency: int
    limit: int | None = None


def shared(calls: int, wanted: Sequence[int], *, turn: int = 0) -> list[int]:
    """How many of so many calls each gets of those that want some: as equal as they can use.

    Args:
        turn: which of them comes first where there are fewer calls than who want some; otherwise
            the first does.
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


def parts_of_judges(callers: Sequence[Caller]) -> dict[int, int]:
    """How many calls each slot may have open by its judge: all slots that serve a judge have as
    many, but for one."""
    of_judge: dict[int, list[Caller]] = {}
    for caller in callers:
        of_judge.setdefault(caller.judge, []).append(caller)
    return {
        caller.slot: max(1, (caller.concurrency + place) // len(together))
        for together in of_judge.values()
        for place, caller in enumerate(reversed(together))
    }


def part_of_limit(
    caller: Caller, callers: Sequence[Caller], *, granted: int = 0, turn: int = 0
) -> int:
    """How many calls a slot may have open by its endpoint's limit.

    Each slot's own limit counts, so that no project slows another one down by a lower one; all
    together never exceed the highest.

    Args:
        granted: how many calls the other slots may have open until now.
        turn: as for `shared`.
    """
    assert caller.limit is not None
    wanted = parts_of_judges(callers)
    of_project: dict[int, list[int]] = {}
    for each in callers:
        of_project.setdefault(each.project, []).append(each.slot)
    wanted_by_projects = [sum(wanted[slot] for slot in slots) for slots in of_project.values()]
    parts = dict(zip(of_project, shared(caller.limit, wanted_by_projects, turn=turn), strict=True))
    ours = of_project[caller.project]
    # Within a project turns go on when all projects have had one: both in step would leave some
    # slots without any.
    of_slot = shared(
        parts[caller.project], [wanted[slot] for slot in ours], turn=turn // len(of_project)
    )
    left = max(each.limit or 0 for each in callers) - granted
    return max(0, min(of_slot[ours.index(caller.slot)], left))


def grant_calls(calls: int, slot: WorkerSlot, *, are_open: int) -> int:
    """How many calls a slot may have open from now on. Calls that are open beyond that end.

    Args:
        calls: how many the judge of its run may have open.
        are_open: how many the slot has open, or may open before it hears of its new part.
    """
    if slot.run_id is None:
        return calls
    endpoint = Endpoint.objects.filter(judges__runs=slot.run_id).first()
    if endpoint is None or endpoint.parallel_calls is None:
        return parts_of_judges(_callers(endpoint)).get(slot.pk, calls)
    # Endpoints whose account no worker has read yet have nothing in common.
    account = endpoint.account or f"endpoint {endpoint.pk}"
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            """SELECT pg_advisory_xact_lock(%s, hashtext(%s)),
                extract(epoch FROM clock_timestamp())::float""",
            [_LOCK, account],
        )
        _, now = cursor.fetchone()
        callers = _callers(endpoint)
        mine = next((caller for caller in callers if caller.slot == slot.pk), None)
        # Others do not see a slot whose worker shows no life, so it has no part.
        granted = 0
        if mine is not None:
            # Also of slots that end their calls for this account, and serve another run by then.
            others = WorkerSlot.objects.serving().exclude(pk=slot.pk)
            counted = others.filter(account=account).aggregate(calls=Sum("calls"))
            turn = int(now / TURN_SECONDS)
            part = part_of_limit(mine, callers, granted=counted["calls"] or 0, turn=turn)
            granted = min(part, parts_of_judges(callers)[slot.pk])
        mine_row = WorkerSlot.objects.as_taken(slot)
        mine_row.update(account=account, calls=max(granted, are_open))
    return granted


def _callers(endpoint: Endpoint | None) -> list[Caller]:
    """The slots that serve a run of an endpoint's account now; of the endpoint alone, where no
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
        pk: Caller(0, project, judge, int(calls or usual), limit)
        for pk, project, judge, calls, limit in rows
    }
    slots = WorkerSlot.objects.serving().filter(run_id__in=list(of_run))
    return [
        replace(of_run[run_id], slot=slot)
        for slot, run_id in slots.values_list("pk", "run_id")
        if run_id is not None
    ]


def end_calls(slot: WorkerSlot) -> None:
    """A slot has no call open any more."""
    WorkerSlot.objects.as_taken(slot).filter(calls__gt=0).update(calls=None)
