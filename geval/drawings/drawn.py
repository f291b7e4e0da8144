"""The figures of a criterion, in their order, drawn for one judge."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from geval.drawings.bubbles import bubbles
from geval.drawings.calibration import calibration
from geval.drawings.matrix import matrix
from geval.drawings.numbers import CriterionNumbers, JudgeNumbers
from geval.drawings.precision import precision
from geval.drawings.shapes import Drawing
from geval.drawings.slopes import slopes
from geval.texts.sentences import WEIGHTED

Address = Callable[[float, float], str]
KINDS = ("bubbles", "systems", "calibration", "matrix", "precision")
LEAST_SYSTEMS = 2


def drawings(
    numbers: CriterionNumbers, judge: JudgeNumbers, address: Address | None = None
) -> Iterator[Drawing]:
    """The figures that have something to show.

    Args:
        address: of the page with the outputs of a bubble, by human mean and score.
    """
    for drawing in _drawn(numbers, judge, address):
        shown = (judge,) if drawing.kind in ("bubbles", "systems") else numbers.judges
        notes = [side.seen for side in shown if side.seen]
        if numbers.is_weighted and drawing.kind != "matrix":
            notes.append(WEIGHTED)
        yield replace(drawing, caption=" ".join([drawing.caption, *notes]))


def _drawn(
    numbers: CriterionNumbers, judge: JudgeNumbers, address: Address | None
) -> Iterator[Drawing]:
    if judge.bubbles:
        yield bubbles(numbers, judge, address or (lambda _human, _score: ""))
    if len(judge.systems) >= LEAST_SYSTEMS:
        yield slopes(numbers, judge)
    if any(one.calibration for one in numbers.judges):
        yield calibration(numbers, judge)
    if len(numbers.sides) > 1:
        yield matrix(numbers, judge)
    if any(one.half_width for one in numbers.judges):
        yield precision(numbers, judge)


def drawing_of(kind: str, numbers: CriterionNumbers, judge: JudgeNumbers) -> Drawing | None:
    """One figure; None where it has nothing to show."""
    return next((one for one in drawings(numbers, judge) if one.kind == kind), None)
