"""Drawings of two judges: the scores of both against each other, and who agrees with people."""

import itertools
import math
from dataclasses import dataclass

import numpy as np

from geval.reports.drawings.forest import Axis, AxisSpan
from geval.reports.pairs import Pair
from geval.statistics.same_documents import BOTH, ONLY_FIRST, ONLY_SECOND, REST, score_grid
from geval.statistics.scales import short

# 0 to 10 has a row per point; the cells of a finer grid would be too small to read.
MOST_POINTS = 11


@dataclass(frozen=True)
class GridBubble:
    """A pair of scores in the drawing."""

    x: str
    y: str
    r: str
    count: int
    is_labelled: bool


@dataclass(frozen=True)
class Grid:
    """Scores of two judges against each other on a criterion, as a drawing and a table."""

    criterion: str
    same: float
    ticks: tuple[tuple[str, str, str], ...]
    bubbles: tuple[GridBubble, ...]
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[int, ...]], ...]


@dataclass(frozen=True)
class Shares:
    """On how many outputs only the first judge agrees, both, only the second, and the rest; drawn
    as a bar of four parts, each with its start, width and middle."""

    pk: int
    criterion: str
    counts: tuple[int, int, int, int]
    parts: tuple[tuple[str, AxisSpan, str, int, bool], ...]

    @property
    def only_one(self) -> int:
        """The number of outputs on which exactly one judge agrees."""
        only_first, _both, only_second, _rest = self.counts
        return only_first + only_second


def grid_of(pair: Pair) -> Grid:
    scale = pair.criterion.scale
    points = np.array(scale.points)
    if len(points) > MOST_POINTS:
        points = np.linspace(scale.lowest, scale.highest, MOST_POINTS)
    counts = score_grid(pair.first_on, pair.second_on, points)
    size = len(points)
    step = 82.0 / size
    places = [f"{14 + step * (index + 0.5):.2f}%" for index in range(size)]
    heights = [f"{88 - step * (index + 0.5):.2f}%" for index in range(size)]
    names = tuple(short(round(float(point), 2)) for point in points)
    total, most = int(counts.counts.sum()), int(counts.counts.max())
    bubbles = tuple(
        GridBubble(
            places[column],
            heights[row],
            f"{max(0.6, 0.46 * step * math.sqrt(count / most)):.2f}%",
            count,
            count >= 0.05 * total,
        )
        for row, column in itertools.product(range(size), repeat=2)
        if (count := int(counts.counts[row, column]))
    )
    shown = range(size) if size <= 7 else range(0, size, 2)
    return Grid(
        pair.criterion.name,
        counts.same,
        tuple((names[index], places[index], heights[index]) for index in shown),
        bubbles,
        names,
        tuple(
            (names[row], tuple(int(n) for n in counts.counts[row])) for row in reversed(range(size))
        ),
    )


def shares_of(pair: Pair) -> Shares:
    counts = np.bincount(pair.agrees, minlength=4)
    axis = Axis(0.0, float(counts.sum()))
    looks = {ONLY_FIRST: "bar-llm", BOTH: "bar-llm-mid", ONLY_SECOND: "bar-open", REST: "bar-line"}
    parts, begin = [], 0
    for which in (ONLY_FIRST, BOTH, ONLY_SECOND, REST):
        count = int(counts[which])
        if count:
            span = axis.span(begin, begin + count)
            middle = axis.at(begin + count / 2)
            parts.append((looks[which], span, middle, count, count >= 0.08 * counts.sum()))
        begin += count
    first, shared, second, rest = (int(counts[which]) for which in range(4))
    of_each = (first, shared, second, rest)
    return Shares(pair.criterion.pk, pair.criterion.name, of_each, tuple(parts))
