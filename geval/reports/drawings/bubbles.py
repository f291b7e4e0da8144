"""A plot of human scores (x) and a judge's scores (y) with marginal frequencies: a circle for all
outputs with the same two values, or for continuous values a hexagon for nearby ones."""

import itertools
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from geval.reports.drawings.numbers import Bubble, CriterionNumbers, JudgeNumbers, Tally
from geval.reports.drawings.shapes import (
    JUDGE,
    PEOPLE,
    TEXT,
    WIDTH,
    Box,
    Dot,
    Drawing,
    Hexagon,
    Line,
    Mark,
    Shape,
    Words,
    fitting,
    width_of,
)
from geval.statistics.scales import short
from geval.texts.numbers import counted, signed, thin, two_decimals

# Margins around the square: ticks and titles to the left and below, tallies above and to the right.
LEFT, FOOT, BESIDE, TOP = 50.0, 40.0, 66.0, 70.0
# A wider square would be higher than most screens.
WIDEST = 400.0
# The padding between the square's sides and the ends of the axes.
PAD = 18.0
TALLIES = 38.0
KEY = 22.0
# The smallest circle with a label inside.
LABEL = 9.0
# More labels than on a scale from 1 to 9 would touch in a column's width.
MOST_TICKS = 9
LARGEST, SMALLEST = 17.0, 1.2
# The lightest shade of a hexagon, with one output of many.
PALEST = 0.14
Address = Callable[[float, float], str]


@dataclass(frozen=True)
class _Square:
    """Maps values to positions: the ends of both axes, and the sides of the square."""

    across: tuple[float, float]
    up: tuple[float, float]
    side: float

    def x(self, value: float) -> float:
        return LEFT + PAD + self._share(value, self.across) * (self.side - 2 * PAD)

    def y(self, value: float) -> float:
        return TOP + self.side - PAD - self._share(value, self.up) * (self.side - 2 * PAD)

    @property
    def right(self) -> float:
        return LEFT + self.side

    @property
    def bottom(self) -> float:
        return TOP + self.side

    @staticmethod
    def _share(value: float, ends: tuple[float, float]) -> float:
        return (value - ends[0]) / (ends[1] - ends[0])


def bubbles(
    numbers: CriterionNumbers, judge: JudgeNumbers, address: Address, width: float = WIDTH
) -> Drawing:
    """Return the drawing.

    Args:
        address: the address of the page with a bubble's outputs, by `human` and `score`; "" for no
            link.
    """
    across = (numbers.lowest, numbers.highest)
    scores = [bubble.score for bubble in judge.bubbles]
    up = across if judge.on_scale or not scores else _ends(scores)
    square = _Square(across, up, min(WIDEST, width - LEFT - BESIDE))
    high = KEY if judge.tile else max(KEY, 2 * _largest(square, judge.bubbles) + 8)
    has_room = width - square.right - BESIDE > 100
    key = (square.right + BESIDE, TOP + 20) if has_room else (LEFT, square.bottom + FOOT + high / 2)
    marks, diagonal = list(_marks(square, judge, address)), list(_diagonal(square, judge))
    shapes = [
        *_ground(square, numbers, judge),
        *(marks + diagonal if judge.tile else diagonal + marks),
        *_tallies(square, judge),
        *_key(square, judge, *key, width),
    ]
    shapes.append(Words(square.right, 11, judge.correlation, "ink", "end", is_bold=True))
    return Drawing(
        kind="bubbles",
        title=_finding(judge),
        caption=(
            f"{numbers.name}: {numbers.human_label} (across) and {judge.name}'s score (up) of"
            f" {counted(judge.outputs, 'output')}. {_legend(judge)} Bars: how often each value was"
            f" given.{_agreement(judge)} {judge.correlation}, 95 % interval in brackets."
        ),
        height=square.bottom + FOOT + (0 if has_room else high),
        shapes=tuple(shapes),
        columns=("human score", "judge's score", "outputs"),
        rows=tuple(
            (two_decimals(bubble.human), two_decimals(bubble.score), thin(bubble.outputs))
            for bubble in judge.bubbles
        ),
        width=width,
    )


def _finding(judge: JudgeNumbers) -> str:
    if not judge.on_scale or abs(judge.gap) < 0.05:
        return f"{judge.name} and people: {judge.correlation}"
    side = "more" if judge.gap > 0 else "less"
    return f"{judge.name} gives {abs(judge.gap):.1f} {side} than people on average"


def _legend(judge: JudgeNumbers) -> str:
    if judge.tile:
        return "The darker a hexagon, the more outputs have values near its middle."
    return "Circle area = number of outputs."


def _agreement(judge: JudgeNumbers) -> str:
    if judge.on_scale:
        return f" On the dashed line both agree; the mean difference is {signed(judge.gap)}."
    return " Scores are on another scale than ratings, so there is no line on which both agree."


def _ground(square: _Square, numbers: CriterionNumbers, judge: JudgeNumbers) -> Iterable[Shape]:
    for value in _ticks(square.across):
        x = square.x(value)
        yield Line(x, square.bottom if judge.tile else TOP, x, square.bottom + 3, "grid")
        yield Words(x, square.bottom + 13, short(value), "quiet", "middle")
    for value in _ticks(square.up):
        y = square.y(value)
        yield Line(LEFT - 3, y, LEFT if judge.tile else square.right, y, "grid")
        yield Words(LEFT - 5, y + 4, short(value), "quiet", "end")
    middle = (LEFT + square.right) / 2
    yield Words(middle, square.bottom + 29, numbers.human_label, PEOPLE, "middle")
    label = "'s score"
    name = fitting(judge.name, square.side - width_of(label, is_bold=True), is_bold=True)
    y = (TOP + square.bottom) / 2
    yield Words(11, y, f"{name}{label}", JUDGE, "middle", is_bold=True, is_turned=True)


def _marks(square: _Square, judge: JudgeNumbers, address: Address) -> Iterable[Shape]:
    most = max((bubble.outputs for bubble in judge.bubbles), default=1)
    largest = _largest(square, judge.bubbles)
    for bubble in sorted(judge.bubbles, key=lambda bubble: -bubble.outputs):
        x, y, link = (
            square.x(bubble.human),
            square.y(bubble.score),
            address(bubble.human, bubble.score),
        )
        about = "near " if judge.tile else ""
        hint = (
            f"{counted(bubble.outputs, 'output')}: people {about}{two_decimals(bubble.human)},"
            f" {judge.name} {about}{two_decimals(bubble.score)}"
        )
        if judge.tile:
            yield _hexagon(square, judge.tile, x, y, bubble.outputs / most, hint=hint, address=link)
            continue
        radius = max(SMALLEST, largest * math.sqrt(bubble.outputs / most))
        yield Dot(x, y, radius, "llm-mid", JUDGE, hint, link)
        label = thin(bubble.outputs)
        if radius >= 0.3 * LABEL * len(label) + 2 and bubble.outputs > 1:
            yield Words(x, y + 3.2, label, "ink", "middle", size=LABEL)


def _hexagon(
    square: _Square,
    tile: tuple[float, float],
    x: float,
    y: float,
    share: float,
    *,
    hint: str = "",
    address: str = "",
) -> Mark:
    low = square.across[0], square.up[0]
    wide = 4 / 3 * (square.x(low[0] + tile[0]) - square.x(low[0]))
    high = square.y(low[1]) - square.y(low[1] + tile[1])
    # A thin gap, so that neighbours of similar shade can be distinguished.
    return Hexagon(x, y, wide - 0.8, high - 0.8, JUDGE, _shade(share), hint, address)


def _shade(share: float) -> float:
    return round(PALEST + (1 - PALEST) * math.sqrt(share), 3)


def _diagonal(square: _Square, judge: JudgeNumbers) -> Iterable[Shape]:
    """Draw the diagonal of agreement; circles are drawn over it, hexagons under it."""
    if judge.on_scale:
        low, high = square.across
        ends = (square.x(low), square.y(low), square.x(high), square.y(high))
        yield Line(*ends, "ink" if judge.tile else "axis", dashed=True)


def _largest(square: _Square, shown: Iterable[Bubble]) -> float:
    """Return the radius of the largest circle with which circles do not overlap."""
    xs = sorted({square.x(bubble.human) for bubble in shown})
    ys = sorted({square.y(bubble.score) for bubble in shown})
    gaps = [b - a for side in (xs, ys) for a, b in itertools.pairwise(side)]
    return max(SMALLEST, min([LARGEST, *(gap / 2 - 0.5 for gap in gaps)]))


def _tallies(square: _Square, judge: JudgeNumbers) -> Iterable[Shape]:
    """Draw how often people and the judge gave each value, outside the square."""
    foot = TOP - 4
    for place, high, wide in _bars(judge.human_tallies, square.x):
        yield Box(place - wide / 2, foot - high, wide, high, "other")
    side = square.right + 4
    for place, long, wide in _bars(judge.tallies, square.y):
        yield Box(side, place - wide / 2, long, wide, JUDGE)
    size = TEXT - 2
    if judge.bubbles:
        judged, people = (_most(side) for side in (judge.tallies, judge.human_tallies))
        above = foot - TALLIES - 3
        yield Words(
            square.x(people.value), above, thin(people.outputs), "quiet", "middle", size=size
        )
        beside = side + TALLIES + 3
        yield Words(beside, square.y(judged.value) + 3, thin(judged.outputs), "quiet", size=size)


def _most(tallies: tuple[Tally, ...]) -> Tally:
    return max(tallies, key=lambda tally: tally.outputs)


def _bars(
    tallies: tuple[Tally, ...], at: Callable[[float], float]
) -> Iterable[tuple[float, float, float]]:
    """Return position, length and width of each bar."""
    most = max((tally.outputs for tally in tallies), default=1)
    places = sorted(at(tally.value) for tally in tallies)
    gaps = [b - a for a, b in itertools.pairwise(places)]
    wide = max(1.0, min([10.0, *(0.8 * gap for gap in gaps)]))
    for tally in tallies:
        yield at(tally.value), TALLIES * tally.outputs / most, wide


def _key(square: _Square, judge: JudgeNumbers, x: float, y: float, width: float) -> Iterable[Shape]:
    """Draw the key of sizes or shades, in a line starting at `x`, centred at `y`."""
    most = max((bubble.outputs for bubble in judge.bubbles), default=1)
    counts = sorted({1, max(1, round(most / 4)), most})
    size = TEXT - 1
    for count in counts:
        if judge.tile:
            radius = 6.0
            yield Hexagon(x + radius, y, 12, 11, JUDGE, _shade(count / most))
        else:
            radius = max(SMALLEST, _largest(square, judge.bubbles) * math.sqrt(count / most))
            yield Dot(x + radius, y, radius, "llm-mid", JUDGE)
        label = thin(count)
        yield Words(x + 2 * radius + 4, y + 3.5, label, "quiet", size=size)
        x += 2 * radius + 4 + width_of(label, size) + 10
    if x + width_of("outputs", size) <= width:
        yield Words(x - 5, y + 3.5, "outputs" if most > 1 else "output", "quiet", size=size)


def _ends(values: list[float]) -> tuple[float, float]:
    low, high = min(values), max(values)
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def _ticks(ends: tuple[float, float]) -> list[float]:
    """Return the whole numbers between the ends if they are few, else quarters of the range."""
    low, high = ends
    if low == int(low) and 1 <= high - low < MOST_TICKS and high == int(high):
        return [float(value) for value in range(int(low), int(high) + 1)]
    return [float(f"{low + (high - low) * part / 4:.3g}") for part in range(5)]
