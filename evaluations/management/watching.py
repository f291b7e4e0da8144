"""Watch a run in the terminal: its progress, rate and cost, from the first item on."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import Any

import orjson
from django.core.management.base import OutputWrapper
from django.db import close_old_connections
from tqdm import tqdm

from evaluations.judging.runs.counts import finished as finished_of
from evaluations.judging.runs.counts import seconds_left
from evaluations.judging.runs.lifecycle import steps_written
from evaluations.models import EvaluationRun, ItemState
from geval.texts.numbers import in_time, whole_percent

# Somebody watches, but each look is a query.
LOOK_EVERY_SECONDS = 0.3


@dataclass(frozen=True)
class RunSnapshot:
    """A run at a moment.

    `rate` is in items per minute since watching began, and `seconds_left` follows from it;
    `readable` is the share of finished items with a score. All three are None before the first
    item. `cost` is in the currency of the judge's prices, None without prices. While steps are
    written, `steps_written` of `steps_wanted` are done.
    """

    run: int
    judge: str
    state: str
    items: int
    done: int
    failed: int
    rate: float | None
    readable: float | None
    cost: Decimal | None
    seconds_left: float | None
    steps_written: int = 0
    steps_wanted: int = 0

    @property
    def finished(self) -> int:
        return self.done + self.failed

    @property
    def in_words(self) -> str:
        """The text after a progress bar's count."""
        if self.steps_wanted:
            return f"evaluation steps: {self.steps_written} of {self.steps_wanted} written"
        if self.rate is None or self.readable is None:
            return "waiting for the first item"
        parts = [f"{self.rate:.0f} per minute", f"{whole_percent(self.readable)} readable"]
        if self.cost is not None:
            parts.append(f"cost {self.cost:.4f}")
        if self.seconds_left:
            parts.append(f"{in_time(self.seconds_left)} left")
        return ", ".join(parts)

    def as_json(self) -> dict[str, Any]:
        return asdict(self) | {"cost": None if self.cost is None else str(self.cost)}


def snapshot(run: EvaluationRun, begun: float, finished_then: int) -> RunSnapshot:
    """Return the current state of a run, with its rate since `begun`, when `finished_then` items
    were finished."""
    counts = run.items_by_state()
    items, done, finished = sum(counts.values()), counts[ItemState.DONE], finished_of(counts)
    minutes = (time.monotonic() - begun) / 60
    rate = (finished - finished_then) / minutes if finished > finished_then else None
    written, wanted = steps_written(run) or (0, 0)
    return RunSnapshot(
        run=run.pk,
        judge=run.judge.label,
        state=run.state,
        items=items,
        done=done,
        failed=finished - done,
        rate=rate,
        readable=done / finished if finished else None,
        cost=run.cost,
        seconds_left=seconds_left(run, items - finished, rate),
        steps_written=written,
        steps_wanted=wanted,
    )


Show = Callable[[RunSnapshot], None]


@contextmanager
def progress_bar(title: str) -> Iterator[Show]:
    """Show a progress bar; in a log only the final counts are written."""
    form = "{desc}: {percentage:3.0f}%|{bar:20}| {n_fmt}/{total_fmt} {postfix}"
    with tqdm(desc=title, file=sys.stderr, disable=None, bar_format=form) as bar:

        def show(taken: RunSnapshot) -> None:
            bar.total, bar.n = taken.items or None, taken.finished
            bar.set_postfix_str(taken.in_words)

        yield show


class JsonLines:
    """One JSON object per line for programs, whenever something has changed."""

    def __init__(self, stdout: OutputWrapper) -> None:
        self._stdout = stdout
        self._last: tuple[object, ...] = ()

    def show(self, taken: RunSnapshot) -> None:
        changing = (taken.state, taken.items, taken.finished, taken.steps_written)
        if changing != self._last:
            self._last = changing
            self.write("progress", taken.as_json())

    def write(self, event: str, fields: dict[str, Any]) -> None:
        self._stdout.write(orjson.dumps({"event": event} | fields).decode())
        self._stdout.flush()


def watch_run(
    run: EvaluationRun,
    *,
    show: Show | None = None,
    still_worked_on: Callable[[], None] = lambda: None,
) -> dict[str, Any]:
    """Show a run until it is done or paused; return its summary.

    Args:
        show: where to show it; by default a progress bar.
        still_worked_on: called at every update; raises if no worker can continue the run.
    """
    begun, finished_then = time.monotonic(), finished_of(run.items_by_state())
    with nullcontext(show) if show else progress_bar(str(run.judge)) as shown:
        while True:
            close_old_connections()
            run.refresh_from_db()
            shown(snapshot(run, begun, finished_then))
            if not run.is_active:
                return run_summary(run)
            still_worked_on()
            time.sleep(LOOK_EVERY_SECONDS)


def run_summary(run: EvaluationRun) -> dict[str, Any]:
    """Return the status of a run: state, message, counts by state, failures by reason."""
    counts = run.items_by_state()
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
