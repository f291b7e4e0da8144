"""Watch a run in the terminal: a progress bar while it runs, counts when it ends."""

import sys
import time
from collections.abc import Callable
from typing import Any

from django.db import close_old_connections
from tqdm import tqdm

from evaluations.models import EvaluationRun, ItemState

LOOK_EVERY_SECONDS = 0.3


def watch_run(
    run: EvaluationRun, *, still_worked_on: Callable[[], None] = lambda: None
) -> dict[str, Any]:
    """Show a progress bar until the run is done or paused; return its summary.

    Args:
        still_worked_on: called at every update; raises if no worker can continue the run.
    """
    with tqdm(
        total=None,
        unit="item",
        desc=str(run.judge),
        file=sys.stderr,
        disable=None,  # in a log a progress bar is noise; the final counts are enough
    ) as bar:
        while True:
            close_old_connections()
            run.refresh_from_db()
            counts = run.items.counts()
            bar.total = sum(counts.values()) or None
            bar.n = counts[ItemState.DONE] + counts[ItemState.FAILED]
            bar.refresh()
            if not run.is_active:
                return run_summary(run)
            still_worked_on()
            time.sleep(LOOK_EVERY_SECONDS)


def run_summary(run: EvaluationRun) -> dict[str, Any]:
    """The status of a run: state, message, counts by state, failures by reason."""
    counts = run.items.counts()
    return {
        "run": run.pk,
        "judge": run.judge.label,
        "state": run.state,
        "message": run.message,
        "resumes_at": run.resumes_at,
        "items": sum(counts.values()),
        **counts,
        "failures": run.items.failures_by_reason(),
    }
