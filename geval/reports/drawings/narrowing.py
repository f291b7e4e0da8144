"""A run's correlation as documents arrive: a line in a narrowing band."""

import itertools
from collections.abc import Sequence

from geval.reports.drawings.shapes import Box, Dot, Drawing, Line, Shape, Words
from geval.statistics.anytime import NarrowingStep
from geval.statistics.resampling import Interval
from geval.statistics.thresholds import INTERVAL_DOCUMENTS
from geval.texts.numbers import counted, in_brackets, thin, two_decimals

LEFT, RIGHT, TOP, BOTTOM, HEIGHT = 34.0, 262.0, 12.0, 112.0, 132.0
# Opaque colour would hide the line within the band.
BAND = 0.2


def narrowing_band(criterion: str, steps: Sequence[NarrowingStep], of: str = "rho") -> Drawing:
    """Return the drawing; there must be at least one step.

    Args:
        of: what is drawn: rho, or how often the verdict is the same.
    """
    last, floor = steps[-1], min(0.0, *(min(step.low, step.anytime.low) for step in steps))

    def x(documents: float) -> float:
        wide = max(1, last.documents - INTERVAL_DOCUMENTS)
        return LEFT + (RIGHT - LEFT) * (documents - INTERVAL_DOCUMENTS) / wide

    def y(value: float) -> float:
        return BOTTOM - (BOTTOM - TOP) * (value - floor) / (1 - floor)

    shapes: list[Shape] = []
    for value in (0.0, 0.5, 1.0):
        shapes.append(Line(LEFT, y(value), RIGHT, y(value), "grid"))
        shapes.append(Words(LEFT - 6, y(value) + 4, f"{value:g}", "quiet", "end", size=10))
    for side in ("low", "high"):
        for before, after in itertools.pairwise(steps):
            begin, end = (y(getattr(step.anytime, side)) for step in (before, after))
            shapes.append(Line(x(before.documents), begin, x(after.documents), end, "llm", 0.8))
    for before, after in itertools.pairwise(steps):
        wide, tall = x(after.documents) - x(before.documents), y(before.low) - y(before.high)
        shapes.append(Box(x(before.documents), y(before.high), wide, tall, "llm", BAND))
    for before, after in itertools.pairwise(steps):
        ends = (x(before.documents), y(before.value), x(after.documents), y(after.value))
        shapes.append(Line(*ends, "llm", 1.8))
    end = x(last.documents) if len(steps) > 1 else LEFT
    shapes += [
        Line(end, y(last.low), end, y(last.high), "llm", 1.5),
        Dot(end, y(last.value), 3.2, "llm", hint=_hint(last, of)),
        Words(RIGHT + 8, y(last.value) + 4, two_decimals(last.value), "llm", is_bold=True),
        Words(RIGHT + 38, y(last.value) + 4, _half(last), "quiet"),
        Words(LEFT, BOTTOM + 15, thin(INTERVAL_DOCUMENTS), "quiet", size=10),
        Words(RIGHT, BOTTOM + 15, f"{thin(last.documents)} documents", "quiet", "end", size=10),
    ]
    return Drawing(
        kind="narrowing",
        title=(
            f"{criterion}: {of} {two_decimals(last.value)} after {thin(last.documents)} documents"
        ),
        caption=(
            f"{criterion}: {of} by the number of documents, in the order in which they"
            " were judged, with the 95 % interval of each number (band) and the interval that holds"
            " however often it is looked at (thin lines)."
        ),
        height=HEIGHT,
        shapes=tuple(shapes),
        columns=("documents", of, "95 % interval", "valid at any time"),
        rows=tuple(
            (
                thin(at_step.documents),
                two_decimals(at_step.value),
                in_brackets(Interval(at_step.low, at_step.high)),
                in_brackets(Interval(at_step.anytime.low, at_step.anytime.high)),
            )
            for at_step in steps
        ),
    )


def _hint(step: NarrowingStep, of: str) -> str:
    return (
        f"{of} {two_decimals(step.value)} {in_brackets(Interval(step.low, step.high))} after"
        f" {counted(step.documents, 'document')}"
    )


def _half(step: NarrowingStep) -> str:
    return f"±{(step.high - step.low) / 2:.2f}"
