"""The lines of a forest plot, and positions of dots, intervals and bands in a drawing: from values
to percents of its width.

Positions are percents and texts pixels, so that a drawing fits phones, desktops and paper.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from geval.reports.drawings.numbers import ForestLine
from geval.reports.report import CriterionResult
from geval.statistics.resampling import Interval
from geval.statistics.types import Estimate

ONE_RATER = "one rater"
STEP = 0.2
# The axis ends at a multiple of half a step.
_PER_UNIT = round(2 / STEP)


@dataclass(frozen=True)
class AxisSpan:
    """A line or band: its start, end and width."""

    begin: str
    end: str
    width: str


@dataclass(frozen=True)
class Tick:
    """A grid line with its label."""

    at: str
    label: str


@dataclass(frozen=True)
class Axis:
    """An axis of correlations, common to all drawings of a page."""

    low: float
    high: float

    def at(self, value: float) -> str:
        """Return a value's position; values outside are placed at the end."""
        return _percent(self._share(value))

    def span(self, low: float, high: float) -> AxisSpan:
        begin, end = self._share(low), self._share(high)
        return AxisSpan(_percent(begin), _percent(end), _percent(max(0.0, end - begin)))

    def values_at(self, step: float) -> tuple[float, ...]:
        """Return the multiples of a step on the axis."""
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return tuple(round(index * step, 10) for index in range(first, last + 1))

    @property
    def ticks(self) -> tuple[Tick, ...]:
        return ticks_at(self, self.values_at(STEP))

    def _share(self, value: float) -> float:
        return min(1.0, max(0.0, (value - self.low) / (self.high - self.low)))


def shared_axis(values: Iterable[float]) -> Axis:
    """Return an axis that contains all values and 0, with a margin."""
    ends = [0.0, *values]
    low = math.floor(min(ends) * _PER_UNIT + 1e-9) / _PER_UNIT
    high = math.ceil(max(ends) * _PER_UNIT - 1e-9) / _PER_UNIT
    return Axis(max(-1.0, low), min(1.0, max(high, low + 2 * STEP)))


def round_numbers(values: Iterable[float]) -> list[float]:
    """Return a few round numbers within the range of values and 0, without 0."""
    ends = [0.0, *values]
    low, high = min(ends), max(ends)
    steps = (base * 10.0**power for power in range(-3, 10) for base in (1, 2, 5))
    step = next(step for step in steps if (high - low) / step <= 3)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(index * step, 10) for index in range(first, last + 1) if index]


def ticks_at(axis: Axis, values: Iterable[float]) -> tuple[Tick, ...]:
    """Return grid lines at some values."""
    return tuple(Tick(axis.at(value), f"{value:g}".replace("-", "−")) for value in values)


def _percent(share: float) -> str:
    return f"{100 * share:.2f}%"


def forest_lines(criterion: CriterionResult) -> tuple[ForestLine, ...]:
    """Return one rater, then judges, the best first; those without a correlation are last."""
    lines = []
    if criterion.ceiling.value is not None:
        lines.append(_line(ONE_RATER, "rater", criterion.ceiling, criterion.ceiling_interval))
    lines += [
        _line(
            judge.named,
            "judge" if judge.analysis.on_scale else "baseline",
            judge.shown(criterion.options),
            judge.analysis.shown,
            pk=judge.pk,
            outputs=judge.correlations.pairs,
        )
        for judge in sorted(criterion.judges, key=criterion.compared_by, reverse=True)
    ]
    lines += [
        _line(null.title, "null", null.correlation, null.interval)
        for null in criterion.nulls
        if null.correlation.value is not None
    ]
    return tuple(lines)


def lowest_near_one_rater(criterion: CriterionResult) -> float | None:
    """Return where the shaded band begins; None where there is nothing to compare with."""
    if criterion.ceiling.value is None or not criterion.judges:
        return None
    return criterion.evidence(criterion.judges[0]).bar


def _line(
    name: str, kind: str, estimate: Estimate, interval: Interval, *, pk: int = 0, outputs: int = 0
) -> ForestLine:
    return ForestLine(
        name=name,
        pk=pk,
        kind=kind,
        value=estimate.value,
        low=interval.low,
        high=interval.high,
        reason=estimate.reason or interval.reason,
        outputs=outputs,
    )
