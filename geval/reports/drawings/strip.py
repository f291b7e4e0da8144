"""One output's ratings and scores drawn on the criterion's scale: raters as dots above, the judge's
distribution as bars below, the gap between them. Positions are percents, heights pixels."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from geval.reports.drawings.forest import Axis
from geval.statistics.scales import Scale, short

# 0 to 10 shows every point; labels of finer scales would touch.
MOST_TICKS = 11
# Names at a dot must fit next to those of the next point.
MOST_NAMED = 2
BAR_HEIGHT = 40
BAR_FOOT = 110
DOT_WIDTH = 14


@dataclass(frozen=True)
class PlacedDot:
    """A rater's dot, shifted by some pixels where several gave the same rating."""

    at: str
    shift: float


@dataclass(frozen=True)
class PlacedText:
    """A label or a tick."""

    at: str
    text: str


@dataclass(frozen=True)
class PlacedBar:
    """A bar of the judge's distribution, with its label above."""

    begin: str
    at: str
    y: float
    height: float
    label: str

    @property
    def label_y(self) -> float:
        return self.y - 5


@dataclass(frozen=True)
class Strip:
    """The drawing of one output on one criterion."""

    ticks: tuple[PlacedText, ...]
    low_label: str
    high_label: str
    dots: tuple[PlacedDot, ...]
    names: tuple[PlacedText, ...]
    bars: tuple[PlacedBar, ...]
    people: str
    judge: str
    middle: str
    gap: str
    description: str


def strip_of(
    scale: Scale,
    ratings: Sequence[tuple[str, float]],
    people: float,
    score: float,
    *,
    shares: Mapping[str, float],
    replies: int,
    gap: str,
    description: str,
) -> Strip:
    """Return the drawing.

    Args:
        ratings: who gave what.
        score: on the criterion's scale.
        shares: the judge's distribution by point; empty where there is none.
        replies: the number of samples behind the shares; 0 for probabilities.
    """
    width = scale.highest - scale.lowest
    axis = Axis(scale.lowest - 0.07 * width, scale.highest + 0.07 * width)
    points = scale.points if len(scale.points) <= MOST_TICKS else (scale.lowest, scale.highest)
    named = {value: label for label, value in scale.labels.items()}
    return Strip(
        ticks=tuple(PlacedText(axis.at(point), short(point)) for point in points),
        low_label=named.get(scale.points[0], ""),
        high_label=named.get(scale.points[-1], ""),
        dots=tuple(_dots(axis, [value for _name, value in ratings])),
        names=tuple(_names(axis, ratings)),
        bars=tuple(_bars(axis, shares, replies)),
        people=axis.at(people),
        judge=axis.at(score),
        middle=axis.at((people + score) / 2),
        gap=gap,
        description=description,
    )


def _dots(axis: Axis, values: Sequence[float]) -> list[PlacedDot]:
    placed = []
    for value in sorted(set(values)):
        count = values.count(value)
        step = min(DOT_WIDTH, 56 / count)
        placed += [
            PlacedDot(axis.at(value), round(step * (index - (count - 1) / 2), 1))
            for index in range(count)
        ]
    return placed


def _names(axis: Axis, ratings: Sequence[tuple[str, float]]) -> list[PlacedText]:
    by_value: dict[float, list[str]] = defaultdict(list)
    for name, value in ratings:
        by_value[value].append(name)
    return [
        PlacedText(
            axis.at(value),
            ", ".join(names) if len(names) <= MOST_NAMED else f"{len(names)} raters",
        )
        for value, names in sorted(by_value.items())
    ]


def _bars(axis: Axis, shares: Mapping[str, float], replies: int) -> list[PlacedBar]:
    placed = []
    for point, share in shares.items():
        if share <= 0:
            continue
        height = round(max(1.0, BAR_HEIGHT * share), 1)
        value = float(point)
        half = 0.025 * (axis.high - axis.low)
        label = f"{share * replies:.0f}" if replies else f"{share:.2f}"
        placed.append(
            PlacedBar(
                axis.at(value - half),
                axis.at(value),
                BAR_FOOT - height,
                height,
                label if 0.005 <= share < 1 or replies > 1 else "",
            )
        )
    return placed
