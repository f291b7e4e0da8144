"""Positions of dots, intervals and bands in a drawing, from values to percents of its width.

Positions are percents and texts pixels, so that a drawing fits phones, desktops and paper.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

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
    return [round(at * step, 10) for at in range(first, last + 1) if at]


def ticks_at(axis: Axis, values: Iterable[float]) -> tuple[Tick, ...]:
    """Return grid lines at some values."""
    return tuple(Tick(axis.at(value), f"{value:g}".replace("-", "−")) for value in values)


def _percent(share: float) -> str:
    return f"{100 * share:.2f}%"
