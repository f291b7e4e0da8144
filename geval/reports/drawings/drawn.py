"""Draw the figures of a criterion, in order, for a judge."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from geval.reports.drawings.bubbles import bubbles
from geval.reports.drawings.calibration import calibration
from geval.reports.drawings.forest import forest_plot
from geval.reports.drawings.matrix import matrix
from geval.reports.drawings.numbers import CriterionNumbers, JudgeNumbers
from geval.reports.drawings.precision import precision
from geval.reports.drawings.shapes import WIDTH, Drawing
from geval.reports.drawings.slopes import slopes
from geval.texts.sentences import WEIGHTED

Address = Callable[[float, float], str]
KINDS = ("forest", "bubbles", "systems", "calibration", "matrix", "precision")
# A single system has no order.
LEAST_SYSTEMS = 2


def drawings(
    numbers: CriterionNumbers,
    judge: JudgeNumbers,
    address: Address | None = None,
    width: float = WIDTH,
) -> Iterator[Drawing]:
    """Return the figures that have something to show.

    Args:
        address: of the page with the outputs of a bubble, by human mean and score.
        width: of each figure, in the units of drawings.
    """
    for drawing in _drawn(numbers, judge, address, width):
        shown = (judge,) if drawing.kind in ("bubbles", "systems") else numbers.judges
        notes = [side.seen for side in shown if side.seen]
        if numbers.is_weighted and drawing.kind != "matrix":
            notes.append(WEIGHTED)
        yield replace(drawing, caption=" ".join([drawing.caption, *notes]))


def _drawn(
    numbers: CriterionNumbers, judge: JudgeNumbers, address: Address | None, width: float
) -> Iterator[Drawing]:
    if any(line.value is not None for line in numbers.forest):
        yield forest_plot(numbers, judge, width)
    if judge.bubbles:
        yield bubbles(numbers, judge, address or (lambda _human, _score: ""), width)
    if len(judge.systems) >= LEAST_SYSTEMS:
        yield slopes(numbers, judge, width)
    if any(other.calibration for other in numbers.judges):
        yield calibration(numbers, judge, width)
    if len(numbers.sides) > 1:
        yield matrix(numbers, judge, width)
    if any(other.half_width for other in numbers.judges):
        yield precision(numbers, judge, width)


def drawing_of(
    kind: str, numbers: CriterionNumbers, judge: JudgeNumbers, width: float = WIDTH
) -> Drawing | None:
    """Return a figure; None where it has nothing to show."""
    return next(
        (drawing for drawing in drawings(numbers, judge, width=width) if drawing.kind == kind), None
    )
