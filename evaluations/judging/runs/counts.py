"""Counts of a run's rows, for pages that ask for them every second: those of a small run are
counted each time, those of a large one seldom."""

from collections.abc import Callable, Collection, Hashable, Mapping
from typing import TypeVar

from django.db.models import Count, Q

from evaluations.models import EvaluationRun, ItemState, RunItem
from evaluations.models.seldom import read_seldom

Counts = TypeVar("Counts")
# Fewer items are counted in a few milliseconds.
LARGE_RUN = 10_000
KEPT_SECONDS = 5.0
# What stays as it was laid out may be kept for longer.
LAID_OUT_SECONDS = 600.0


def count_seldom(
    run_id: int,
    items: int,
    what: tuple[Hashable, ...],
    count: Callable[[], Counts],
    *,
    seconds: float | None = None,
) -> Counts:
    """`count()`, or what it gave some seconds ago if the run is large.

    Args:
        items: how many the run was laid out with.
        what: what is counted, with all that it depends on but for the rows themselves.
        seconds: how long it is kept at least; KEPT_SECONDS if not given.
    """
    if items < LARGE_RUN:
        return count()
    kept = KEPT_SECONDS if seconds is None else seconds
    return read_seldom((run_id, *what), count, seconds=kept)


def items_by_state(run_id: int, items: int, stage: Hashable) -> Mapping[str, int]:
    """How many items of a run are in each state; of a large run as they were some seconds ago, but
    never from before its own state changed.

    Args:
        items: how many it was laid out with.
        stage: `EvaluationRun.stage`.
    """
    return count_seldom(run_id, items, (stage, "states"), RunItem.objects.filter(run=run_id).counts)


def finished(by_state: Mapping[str, int]) -> int:
    """How many items are done or failed."""
    return by_state[ItemState.DONE] + by_state[ItemState.FAILED]


def finished_items(runs: Collection[EvaluationRun]) -> dict[int, tuple[int, int]]:
    """How many items of each run are done or failed, and how many there are, by its id; of large
    runs as they were some seconds ago."""
    small = [run.pk for run in runs if run.item_count < LARGE_RUN]
    is_finished = Q(items__state__in=(ItemState.DONE, ItemState.FAILED))
    rows = EvaluationRun.objects.filter(pk__in=small).order_by().annotate(
        finished=Count("items", filter=is_finished), total=Count("items")
    )  # fmt: skip
    progress = {
        pk: (done, total) for pk, done, total in rows.values_list("pk", "finished", "total")
    }
    for run in runs:
        if run.item_count >= LARGE_RUN:
            counts = items_by_state(run.pk, run.item_count, run.stage)
            progress[run.pk] = (finished(counts), sum(counts.values()))
    return progress


def seconds_left(run: EvaluationRun, remaining: int, rate: float | None) -> float | None:
    """Until all items are judged; None where that cannot be said: none is judged yet, or more are
    being laid out.

    Args:
        rate: in items per minute.
    """
    return 60 * remaining / rate if rate and run.is_laid_out else None
