"""Counts of a run's rows, for pages that poll every second. Small runs are counted each time, large
ones every few seconds."""

from collections.abc import Callable, Collection, Hashable, Mapping
from typing import TypeVar

from evaluations.models import EvaluationRun, ItemState, RunTally
from evaluations.models.sizes import read_seldom

Counts = TypeVar("Counts")
# Counting fewer items takes a few milliseconds.
LARGE_RUN = 10_000
# Pages poll every second: a large run is counted for one poll in five.
KEPT_SECONDS = 5.0
# Counts that do not change after the layout may be cached for longer.
LAID_OUT_SECONDS = 600.0


def count_seldom(
    run_id: int,
    items: int,
    what: tuple[Hashable, ...],
    count: Callable[[], Counts],
    *,
    seconds: float | None = None,
) -> Counts:
    """Return `count()`, or for a large run its cached value of some seconds ago.

    Args:
        items: how many items the run was laid out with.
        what: what is counted, with everything that the count depends on except the rows.
        seconds: how long the value is cached at least; KEPT_SECONDS if not given.
    """
    if items < LARGE_RUN:
        return count()
    kept = KEPT_SECONDS if seconds is None else seconds
    return read_seldom((run_id, *what), count, seconds=kept)


def finished(by_state: Mapping[str, int]) -> int:
    """Return how many items are done or failed."""
    return by_state[ItemState.DONE] + by_state[ItemState.FAILED]


def finished_items(runs: Collection[EvaluationRun]) -> dict[int, tuple[int, int]]:
    """Return how many items of each run are done or failed, and how many there are, by run id."""
    by_run = RunTally.objects.filter(run__in=runs).by_run()
    progress = {pk: (finished(counts), sum(counts.values())) for pk, counts in by_run.items()}
    return {run.pk: progress.get(run.pk, (0, 0)) for run in runs}


def seconds_left(run: EvaluationRun, remaining: int, rate: float | None) -> float | None:
    """Estimate the seconds until all items are judged; None if that is unknown: none is judged yet,
    or more are being laid out.

    Args:
        rate: in items per minute.
    """
    return 60 * remaining / rate if rate and run.is_laid_out else None
