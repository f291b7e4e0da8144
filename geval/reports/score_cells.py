"""Ratings and scores of an output, for a document's page, and drawings of two
judges' scores against each other. Pure."""

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from geval.reports.drawings.forest import Axis, AxisSpan
from geval.reports.pairs import Pair
from geval.statistics.same_documents import BOTH, ONLY_FIRST, ONLY_SECOND, REST, score_grid
from geval.statistics.scales import NOT_APPLICABLE, Scale, short
from geval.texts.numbers import or_dash, two_decimals
from geval.texts.subjects import CriterionLike


@dataclass(frozen=True)
class Bar:
    """A scale point's share of a distribution, with its bar's position in a drawing that is 20
    units high and 8 wide per bar."""

    point: str
    share: float
    x: int

    @property
    def height(self) -> float:
        return round(max(0.4, 20 * self.share), 1)

    @property
    def y(self) -> float:
        return round(20 - self.height, 1)


@dataclass(frozen=True)
class ScoreOf:
    """What a page needs of a score; `value` is None for "n/a"."""

    value: float | None
    criterion_id: int | None
    distribution: dict[str, float]
    rates_on_scale: bool


@dataclass(frozen=True)
class ScoreCell:
    """A judge's score of an output on a criterion, None for "n/a", and its distance from the human
    mean."""

    judge: str
    value: float | None
    bars: tuple[Bar, ...]
    difference: float | None

    @property
    def written(self) -> str:
        return number_or_none(self.value, two_decimals)

    @property
    def words(self) -> str:
        """The difference in words; empty within half a point."""
        if self.difference is None or abs(self.difference) < 0.5:
            return ""
        return (
            f"{abs(self.difference):.1f} {'higher' if self.difference > 0 else 'lower'} than people"
        )

    @property
    def width(self) -> int:
        return 8 * len(self.bars)


@dataclass(frozen=True)
class CriterionRow:
    """The ratings and scores of an output on a criterion. `ratings` are (annotator, score), None
    for "n/a"."""

    criterion: CriterionLike
    human_mean: float | None
    ratings: tuple[tuple[str, float | None], ...]
    judges: tuple[ScoreCell | None, ...]

    # Texts for the page, which has hundreds of them: building them in a template would take several
    # times as long.

    @property
    def mean(self) -> str:
        return or_dash(self.human_mean)

    @property
    def each(self) -> str:
        """Every rating, in the order of `by_whom`."""
        return " · ".join(number_or_none(score, "{:.4g}".format) for _name, score in self.ratings)

    @property
    def by_whom(self) -> str:
        written = "{:.4g}".format
        return ", ".join(
            f"{name}: {number_or_none(score, written)}" for name, score in self.ratings
        )


def number_or_none(number: float | None, written: Callable[[float], str]) -> str:
    """Return a rating or score as text; None is the answer "n/a"."""
    return NOT_APPLICABLE if number is None else written(number)


def judge_cell(judge: str, score: ScoreOf, mean: float | None, scale: Scale) -> ScoreCell:
    """Return a judge's score of an output next to people's mean, with its distribution as bars."""
    bars = tuple(
        Bar(point, share, 8 * index) for index, (point, share) in enumerate(_shares(score, scale))
    )
    # A score on another scale (ROUGE) has no distance from a rating.
    on_scale = score.criterion_id is not None and score.rates_on_scale
    difference = None
    if mean is not None and score.value is not None and on_scale and scale.holds(score.value):
        difference = score.value - mean
    return ScoreCell(judge, score.value, bars, difference)


def _shares(score: ScoreOf, scale: Scale) -> list[tuple[str, float]]:
    """Return the distribution over every point of the scale, including empty points; nothing for
    long scales."""
    stored = score.distribution
    if len(stored) < 2 or len(scale.points) > 11:
        return []
    names = [short(point) for point in scale.points]
    names += [NOT_APPLICABLE] if NOT_APPLICABLE in stored else []
    return [(name, float(stored.get(name, 0.0))) for name in names]


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
