"""The error of kept answers by how many are kept: a policy beside choices that know nothing."""

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from geval.reports.drawings.shapes import JUDGE, Dot, Drawing, Line, Shape, Words
from geval.statistics.resampling import Interval
from geval.texts.numbers import in_brackets, in_percents, percents, with_decimals

LEFT, TOP, BOTTOM, FOOT = 40.0, 26.0, 168.0, 30.0
NAMES = 84.0
# The distance of names at the ends of lines.
LABEL = 12.0
STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)
MOST_TICKS = 5


@dataclass(frozen=True)
class ErrorPoint:
    """An error at a coverage, with its interval (None where nothing tells it), and the share that
    the first of two judges keeps (None for one judge)."""

    coverage: float
    error: float
    low: float | None
    high: float | None
    by_first: float | None = None

    @property
    def kept(self) -> str:
        """The coverage, and the first judge's part of it."""
        of_first = "" if self.by_first is None else f", {percents(self.by_first)} by the first"
        return f"{percents(self.coverage)}{of_first}"

    def written(self, *, is_share: bool) -> tuple[str, str]:
        """The error and its interval; that is empty where there is none."""
        if is_share:
            return percents(self.error), in_percents(self.low, self.high)
        return with_decimals(self.error), in_brackets(Interval(self.low, self.high))


@dataclass(frozen=True)
class KeptErrors:
    """What errors a choice of kept answers makes, from the lowest coverage to the highest."""

    name: str
    points: Sequence[ErrorPoint]


def kept_errors(
    policy: KeptErrors,
    others: Sequence[KeptErrors],
    *,
    promised: float,
    kept: float | None,
    is_share: bool,
    title: str,
    width: float,
) -> Drawing:
    """Return the drawing.

    Args:
        promised: the error that is promised at most.
        kept: the coverage of the promise; None where nothing is promised.
        is_share: whether errors are shares, or points on the criterion's scale.
    """
    lines = [*others, policy]
    errors = [point.error for line in lines for point in line.points] + [promised, 0.0]
    ends = [end for point in policy.points for end in (point.low, point.high) if end is not None]
    # Wide intervals of few outputs would flatten all lines; those that leave the frame are cut.
    most = max(errors) + 0.25 * (max(errors) - min(errors))
    top, bottom = min(max([*errors, *ends]), most), max(min([*errors, *ends]), min(errors) - most)
    step = next((step for step in STEPS if top - bottom <= MOST_TICKS * step), STEPS[-1])
    top, bottom = math.ceil(top / step - 1e-9) * step, math.floor(bottom / step + 1e-9) * step
    right = width - NAMES

    def x(coverage: float) -> float:
        # From all to few, so that lines end where they differ, beside their names.
        return right - (right - LEFT) * coverage

    def y(error: float) -> float:
        return BOTTOM - (BOTTOM - TOP) * (min(max(error, bottom), top) - bottom) / (top - bottom)

    shapes: list[Shape] = []
    for index in range(round((top - bottom) / step) + 1):
        value = bottom + index * step
        label = f"{100 * value:.3g} %" if is_share else f"{value:.3g}".replace("-", "−")
        shapes.append(Line(LEFT, y(value), right, y(value), "grid"))
        shapes.append(Words(LEFT - 5, y(value) + 4, label, "quiet", "end", size=10))
    shapes.append(Line(LEFT, y(promised), right, y(promised), "ink", dashed=True))
    for value in (1.0, 0.5, 0.0):
        label = f"{100 * value:g} %"
        shapes.append(Words(x(value), BOTTOM + 15, label, "quiet", "middle", size=10))
    shapes.append(Words(right, BOTTOM + FOOT - 2, "of answers kept", "quiet", "end"))
    shapes.append(Words(0, 10, "error of what is kept", "quiet"))
    if kept is not None:
        shapes.append(Line(x(kept), TOP, x(kept), BOTTOM, JUDGE, 0.8, dashed=True))
    for line in others:
        if len(line.points) == 1:
            (point,) = line.points
            shapes.append(Dot(x(point.coverage), y(point.error), 2.0, "axis"))
        for before, after in itertools.pairwise(line.points):
            shapes.append(Line(x(before.coverage), y(before.error), x(after.coverage),
                               y(after.error), "axis", 0.9))  # fmt: skip
    for point in policy.points:
        if point.low is not None and point.high is not None:
            place = x(point.coverage)
            shapes.append(Line(place, y(point.low), place, y(point.high), JUDGE, 0.9))
    for before, after in itertools.pairwise(policy.points):
        shapes.append(Line(x(before.coverage), y(before.error), x(after.coverage), y(after.error),
                           JUDGE, 1.8))  # fmt: skip
    for point in policy.points:
        hint = f"{point.kept} kept: error {' '.join(point.written(is_share=is_share))}"
        shapes.append(Dot(x(point.coverage), y(point.error), 2.4, JUDGE, hint=hint.rstrip()))
    has_second = any(point.by_first is not None for point in policy.points)
    everything = "Where all are the first judge's," if has_second else "At 100 %"
    begins = [
        (y(line.points[0].error), line.name, JUDGE if line is policy else "quiet")
        for line in lines
        if line.points
    ]
    shapes.extend(_names([*begins, (y(promised), "promised", "ink")], right + 8))
    return Drawing(
        kind="kept-errors",
        title=title,
        caption=(
            "Error on held-out documents by the share of answers that is kept; the policy's with"
            f" its interval. {everything} it is as without a policy. Dashed: the promised error."
        ),
        height=BOTTOM + FOOT,
        shapes=tuple(shapes),
        columns=("kept by", "coverage", "error", "interval"),
        rows=tuple(
            (line.name, point.kept, error, interval or "–")
            for line in lines[::-1]
            for point in line.points
            for error, interval in (point.written(is_share=is_share),)
        ),
        width=width,
    )


def _names(ends: Sequence[tuple[float, str, str]], left: float) -> Iterator[Words]:
    """Yield names beside the ends of lines, moved apart where they would overlap, and above the
    labels of the axis."""
    places: list[float] = []
    for end, _name, _role in sorted(ends):
        places.append(max(places[-1] + LABEL, end + 4) if places else end + 4)
    below = BOTTOM + 4 + LABEL
    for at in reversed(range(len(places))):
        below = places[at] = min(places[at], below - LABEL)
    for place, (_end, name, role) in zip(places, sorted(ends), strict=True):
        yield Words(left, place, name, role, is_bold=role == JUDGE)
