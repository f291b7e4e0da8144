"""Ratings and scores of an output, for a document's page. Pure."""

from collections.abc import Callable
from dataclasses import dataclass

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
