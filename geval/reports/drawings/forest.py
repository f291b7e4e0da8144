"""The forest plot: one rater, judges and null judges, each with its 95 % interval; and the axis
that all drawings of a page share, from values to percents of its width.

Positions are percents and texts pixels, so that a drawing fits phones, desktops and paper.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from geval.reports.drawings.numbers import CriterionNumbers, ForestLine, JudgeNumbers
from geval.reports.drawings.shapes import (
    JUDGE,
    PEOPLE,
    TEXT,
    WIDTH,
    Box,
    Dot,
    Drawing,
    Line,
    Shape,
    Words,
    width_of,
    wrapped,
)
from geval.reports.report import CriterionResult
from geval.statistics.resampling import Interval
from geval.statistics.thresholds import VERDICT_MARGIN
from geval.statistics.types import Estimate
from geval.texts.numbers import counted, in_brackets, thin, two_decimals

ONE_RATER = "one rater"
STEP = 0.2
# The axis ends at a multiple of half a step.
_PER_UNIT = round(2 / STEP)
HEAD, ROW, LINE, FOOT = 32.0, 17.0, 12.0, 42.0
GAP = 10.0
# The largest share of the width for names.
NAMES = 0.38
# Wider figures also show how many outputs count.
WITH_COUNTS = 500.0
COUNTS = 46.0
# The width of an axis label, and the distance between labels.
LABEL, LABEL_STEPS = 26.0, (0.2, 0.5, 1.0)
ROLES = {"rater": PEOPLE, "judge": JUDGE, "baseline": "other", "null": "axis"}


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
        return _percent(self.share(value))

    def span(self, low: float, high: float) -> AxisSpan:
        begin, end = self.share(low), self.share(high)
        return AxisSpan(_percent(begin), _percent(end), _percent(max(0.0, end - begin)))

    def values_at(self, step: float) -> tuple[float, ...]:
        """Return the multiples of a step on the axis."""
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return tuple(round(index * step, 10) for index in range(first, last + 1))

    @property
    def ticks(self) -> tuple[Tick, ...]:
        return ticks_at(self, self.values_at(STEP))

    def share(self, value: float) -> float:
        """Return a value's position from 0 to 1; values outside are placed at the end."""
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
    return tuple(Tick(axis.at(value), tick_label(value)) for value in values)


def tick_label(value: float) -> str:
    """Format a round number on an axis."""
    return f"{value:g}".replace("-", "−")


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
            criterion.interval_of(judge),
            pk=judge.pk,
            outputs=judge.correlations.pairs,
        )
        for judge in sorted(criterion.judges, key=criterion.compared_by, reverse=True)
    ]
    lines += [
        _line(null.title, "null", null.correlation, null.interval)
        for null in criterion.shown_nulls
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


def forest_plot(numbers: CriterionNumbers, judge: JudgeNumbers, width: float = WIDTH) -> Drawing:
    """Return the drawing; the chosen judge is bold."""
    lines = numbers.forest
    counts = COUNTS if width >= WITH_COUNTS else 0.0
    values = max(width_of(_value(line), is_bold=True) for line in lines)
    most = max(width_of(line.name, is_bold=True) for line in lines)
    left = min(NAMES * width, most) + GAP
    right = width - counts - values - GAP
    axis = shared_axis(_ends(lines))
    rows = [(line, wrapped(line.name, left - GAP, is_bold=True)) for line in lines]
    bottom = HEAD + sum(_height(name) for _, name in rows)

    def x(value: float) -> float:
        return left + (right - left) * axis.share(value)

    shapes: list[Shape] = [*_ground(numbers, axis, x, bottom)]
    shapes.append(Words(0, 10, numbers.measure, "quiet"))
    shapes.append(Words(right + GAP, HEAD - 8, "[95 % interval]", "quiet", size=TEXT - 1.5))
    if counts:
        shapes.append(Words(width, HEAD - 8, "outputs", "quiet", "end", size=TEXT - 1.5))
    top = HEAD
    for line, name in rows:
        middle = top + _height(name) / 2
        is_chosen = line.pk == judge.pk
        role = ROLES[line.kind]
        first = middle + 4 - LINE * (len(name) - 1) / 2
        for index, text in enumerate(name):
            shapes.append(Words(0, first + index * LINE, text, _ink(role), is_bold=is_chosen))
        shapes.append(Words(right + GAP, middle + 4, _value(line), _ink(role), is_bold=is_chosen))
        if counts and line.outputs:
            shapes.append(Words(width, middle + 4, thin(line.outputs), "quiet", "end"))
        if line.value is not None:
            if line.low is not None and line.high is not None:
                shapes.append(
                    Line(x(line.low), middle, x(line.high), middle, role, 2.0 if is_chosen else 1.3)
                )
            shapes.append(
                Dot(x(line.value), middle, 4.0 if is_chosen else 3.0, role, hint=_said(line))
            )
        top += _height(name)
    return Drawing(
        kind="forest",
        title=_finding(numbers, judge),
        caption=_caption(numbers, judge),
        height=bottom + FOOT,
        shapes=tuple(shapes),
        columns=("judge", numbers.measure, "95 % interval", "outputs"),
        rows=tuple(
            (
                line.name,
                "–" if line.value is None else two_decimals(line.value),
                in_brackets(Interval(line.low, line.high)) or "–",
                thin(line.outputs) if line.outputs else "–",
            )
            for line in lines
        ),
        width=width,
    )


def _ground(
    numbers: CriterionNumbers, axis: Axis, x: Callable[[float], float], bottom: float
) -> Iterable[Shape]:
    rater = next((line for line in numbers.forest if line.kind == "rater"), None)
    if rater and rater.value is not None and numbers.bar is not None:
        end = rater.value if rater.high is None else rater.high
        begin = max(axis.low, numbers.bar)
        high = bottom - HEAD
        yield Box(x(begin), HEAD, x(min(end, axis.high)) - x(begin), high, "ink", 0.08)
    room = (x(axis.high) - x(axis.low)) / (LABEL * (axis.high - axis.low))
    step = next((step for step in LABEL_STEPS if step * room >= 1), LABEL_STEPS[-1])
    for tick in axis.values_at(step):
        yield Line(x(tick), HEAD, x(tick), bottom + 3, "grid")
        yield Words(x(tick), bottom + 15, tick_label(tick), "quiet", "middle", size=TEXT - 1)
    if rater and rater.value is not None:
        yield Line(x(rater.value), HEAD, x(rater.value), bottom, "ink", dashed=True)
        if numbers.bar is not None:
            key, label = bottom + 26, f"within {VERDICT_MARGIN:.2f} of one rater"
            yield Box(0, key, 14, 9, "ink", 0.08)
            yield Words(19, key + 8.5, label, "quiet", size=TEXT - 1)


def _height(name: list[str]) -> float:
    return ROW + LINE * (len(name) - 1)


def _ink(role: str) -> str:
    """Return a colour dark enough for text, as the greys of marks are too light."""
    return "quiet" if role in ("axis", "other") else role


def _ends(lines: Iterable[ForestLine]) -> Iterable[float]:
    for line in lines:
        yield from (end for end in (line.value, line.low, line.high) if end is not None)


def _value(line: ForestLine) -> str:
    if line.value is None:
        return "–"
    return f"{two_decimals(line.value)} {in_brackets(Interval(line.low, line.high))}".rstrip()


def _said(line: ForestLine) -> str:
    count = f", {counted(line.outputs, 'output')}" if line.outputs else ""
    return f"{line.name}: {_value(line)}{count}"


def _caption(numbers: CriterionNumbers, judge: JudgeNumbers) -> str:
    kinds = {line.kind for line in numbers.forest}
    sentences = [f"{numbers.name}: {numbers.measure}, with 95 % intervals. {judge.name} is bold."]
    if "rater" in kinds:
        sentences.append("Dashed line: one rater, compared with the mean of the others.")
        if numbers.bar is not None:
            sentences.append(f"Shaded: within {VERDICT_MARGIN:.2f} of one rater.")
    if "baseline" in kinds:
        sentences.append("Grey: scores on another scale.")
    if "null" in kinds:
        sentences.append("Light grey: judges that read nothing.")
    return " ".join(sentences)


def _finding(numbers: CriterionNumbers, judge: JudgeNumbers) -> str:
    by_kind = {line.kind: line for line in reversed(numbers.forest)}
    own = next((line for line in numbers.forest if line.pk == judge.pk), None)
    if own is None or own.value is None:
        return f"{judge.name} has no correlation yet"
    rater = by_kind.get("rater")
    reached = f"{judge.name} reaches {two_decimals(own.value)}"
    if rater is None or rater.value is None:
        return reached
    return f"{reached}, one rater {two_decimals(rater.value)}"
