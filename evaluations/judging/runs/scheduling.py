"""Choose the run that a worker's slot serves next, by one rule for all workers of the site.

The project with the fewest slots comes first, then the one that has waited longest; within a
project, runs follow the same rule. Pilots and trials, which somebody is watching, take precedence
as long as they occupy at most a quarter of the slots. A slot stays with a run for some seconds, and
longer while no other run has a better claim.
"""

import datetime
import functools
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.db.models.fields.json import KT
from django.db.models.functions import Now

from evaluations.judging.runs.shift import ours
from evaluations.models import EvaluationRun, WorkerSlot
from evaluations.models.runs import PLAYGROUND
from geval.llm.run_parameters import RunParameters
from geval_site.sql import CompiledQuery, execute_sql

# The share of slots that serve pilots and trials before other runs; at least one slot.
INTERACTIVE_SHARE = 0.25
# Any constant: slots choose one at a time, so that each sees the previous choice.
_LOCK = 0x7069636B
# Runs are checked for work in order of their claims, this many first; one of those usually has
# some.
_FIRST_LOOK = 4
_LONG_AGO = datetime.datetime.min.replace(tzinfo=datetime.UTC)
_NOW = datetime.datetime.max.replace(tzinfo=datetime.UTC)


@dataclass(frozen=True)
class RunInLine:
    """An active run as the rule sees it.

    Args:
        concurrency: how many calls its judge may have in flight; None for a judge that computes
            locally.
        served_at: when a slot last began or stopped serving it; None for never.
    """

    pk: int
    project: int
    judge: int
    is_interactive: bool = False
    concurrency: int | None = None
    served_at: datetime.datetime | None = None


def rank_runs(
    runs: Sequence[RunInLine], served: Sequence[int], *, slots: int, avoided: Sequence[int] = ()
) -> list[RunInLine]:
    """Return the runs that a slot may serve, by precedence.

    Args:
        served: the ids of the runs that the other slots serve, one id per slot.
        slots: number of slots on the whole site.
        avoided: ids of runs that recently had no work for this slot.
    """
    by_id = {run.pk: run for run in runs}
    being_served = [by_id[pk] for pk in served if pk in by_id]
    of_project = Counter(run.project for run in being_served)
    of_judge = Counter(run.judge for run in being_served)
    of_run = Counter(run.pk for run in being_served)
    interactive = sum(run.is_interactive for run in being_served)
    # A single slot is not reserved for pilots and trials.
    share = max(1, int(slots * INTERACTIVE_SHARE)) if slots > 1 else 0
    has_room = interactive < share
    last_served: dict[int, datetime.datetime] = {}
    for run in runs:
        seen = run.served_at or _LONG_AGO
        last_served[run.project] = max(last_served.get(run.project, _LONG_AGO), seen)

    def may_be_served(run: RunInLine) -> bool:
        # Each slot needs at least one call of its own; a local evaluator uses all cores by itself.
        most = 1 if run.concurrency is None else run.concurrency
        taken = of_run[run.pk] if run.concurrency is None else of_judge[run.judge]
        return taken < most and run.pk not in avoided

    def claim(run: RunInLine) -> tuple[object, ...]:
        return (
            not (run.is_interactive and has_room),
            of_project[run.project],
            last_served[run.project],
            of_run[run.pk],
            run.served_at or _LONG_AGO,
            run.pk,
        )

    return sorted(filter(may_be_served, runs), key=claim)


@transaction.atomic
def choose_run(slot: WorkerSlot, *, avoided: Sequence[int] = ()) -> int | None:
    """Choose the run that a slot serves from now on, which may be its current run; return its id,
    or None if no run has work for it.

    A slot that was released because its worker was thought lost serves nothing.

    Args:
        avoided: as for `rank_runs`.
    """
    execute_sql("SELECT pg_advisory_xact_lock(%s)", [_LOCK])
    slot_row = WorkerSlot.objects.as_taken(slot)
    current = slot_row.values_list("run_id", flat=True).first()
    chosen = _choose(slot.pk, current, avoided)
    if not slot_row.update(run_id=chosen, seen_at=Now()):
        return None
    if chosen != current:
        _note_service([pk for pk in (chosen, current) if pk is not None])
    return chosen


def waiting_run(avoided: Sequence[int] = ()) -> int | None:
    """Return the id of the run that another slot would serve; None if no run could use one."""
    return _choose(None, None, avoided)


def _note_service(runs: Sequence[int]) -> None:
    """Record that a slot began or stopped serving runs. Locked rows are skipped, because otherwise
    all slots of the site would wait for them."""
    execute_sql(
        """UPDATE evaluations_evaluationrun SET served_at = clock_timestamp() WHERE id IN (
               SELECT id FROM evaluations_evaluationrun WHERE id = ANY(%s)
               FOR UPDATE SKIP LOCKED)""",
        [list(runs)],
    )


def leave(slot: WorkerSlot) -> None:
    """Record that a slot no longer serves a run."""
    slot_row = WorkerSlot.objects.as_taken(slot)
    left = slot_row.values_list("run_id", flat=True).first()
    if left is not None:
        slot_row.update(run_id=None)
        _note_service([left])


def _choose(slot: int | None, current: int | None, avoided: Sequence[int]) -> int | None:
    """Return the run for a slot that now serves `current`; a slot of None serves nothing yet."""
    serving = [(other, run) for other, run in _serving.rows() if other != slot]
    order = rank_runs(
        _runs_in_line(current),
        [run for _, run in serving],
        slots=len(_slots(settings.ONLY_PROJECT).rows()),
        avoided=avoided,
    )
    return _first_with_work([run.pk for run in order], current)


_serving = CompiledQuery(
    lambda: WorkerSlot.objects.serving().order_by().values_list("pk", "run_id")
)
_with_work = CompiledQuery(lambda: EvaluationRun.objects.with_work().order_by().values_list("pk"))


@functools.cache
def _slots(project: str) -> CompiledQuery:
    """Return a query for all slots that take runs, of any project or only this one."""
    return CompiledQuery(
        lambda: WorkerSlot.objects.of_live_workers(project).order_by().values_list("pk")
    )


@functools.cache
def _active(_project: str) -> CompiledQuery:
    """Return a query for the active runs: all of them, or those of the only project in the settings
    (see `ours`)."""
    return CompiledQuery(
        lambda: (
            EvaluationRun.objects.active()
            .filter(ours("project"))
            .order_by()
            .annotate(
                pilot=KT("parameters__pilot"),
                trial=KT("parameters__trial"),
                concurrency=KT("parameters__concurrency"),
                endpoint=F("judge__endpoint_id"),
            )
            .values_list(
                "pk",
                "project_id",
                "judge_id",
                "pilot",
                "trial",
                "purpose",
                "endpoint",
                "concurrency",
                "served_at",
            )
        )
    )


def _runs_in_line(current: int | None) -> list[RunInLine]:
    """Return all active runs; the current run counts as served until now."""
    usual = RunParameters.concurrency
    return [
        RunInLine(
            pk=pk,
            project=project,
            judge=judge,
            is_interactive=bool(pilot or trial or purpose == PLAYGROUND),
            concurrency=None if endpoint is None else int(concurrency or usual),
            served_at=_NOW if pk == current else served_at,
        )
        for pk, project, judge, pilot, trial, purpose, endpoint, concurrency, served_at in _active(
            settings.ONLY_PROJECT
        ).rows()
    ]


def _first_with_work(ids: Sequence[int], current: int | None) -> int | None:
    """Return the first run with work. The current run counts as having work, or its turn would
    end."""
    begin, size = 0, _FIRST_LOOK
    while part := ids[begin : begin + size]:
        begin, size = begin + size, 8 * size
        have_work = {*(pk for (pk,) in _with_work.rows(among=list(part))), current}
        first = next((pk for pk in part if pk in have_work), None)
        if first is not None:
            return first
    return None
