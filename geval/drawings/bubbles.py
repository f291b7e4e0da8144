"""Human means across, a judge's scores up: a bubble for all outputs with the same two."""

import math
from collections.abc import Callable, Iterable

from geval.drawings.numbers import Bubble, CriterionNumbers, JudgeNumbers
from geval.drawings.shapes import Dot, Drawing, Line, Shape, Words
from geval.scales import short
from geval.texts.numbers import counted, signed, thin

LEFT, RIGHT, TOP, BOTTOM = 34.0, 322.0, 26.0, 290.0
HEIGHT = 334.0
# Labels inside bubbles; in smaller ones they would not fit.
LABEL = 9.0
MOST_TICKS = 9
LARGEST = 17.0


def bubbles(numbers: CriterionNumbers, judge: JudgeNumbers, address: Callable[..., str]) -> Drawing:
    """The drawing.

    Args:
        address: of the page with a bubble's outputs, by `human` and `score`; "" for no link.
    """
    across = (numbers.lowest, numbers.highest)
    scores = [bubble.score for bubble in judge.bubbles]
    up = across if judge.on_scale or not scores else _ends(scores)
    shapes = [*_ground(across, up, judge, numbers.human_label)]
    radii = _radii(judge.bubbles)
    for one in sorted(judge.bubbles, key=lambda one: -one.outputs):
        x, y = _at(one.human, across, LEFT, RIGHT), _at(one.score, up, BOTTOM, TOP)
        radius = radii[one.human, one.score]
        hint = (
            f"{counted(one.outputs, 'output')}: people {one.human:.2f}, {judge.name}"
            f" {one.score:.2f}"
        )
        shapes.append(Dot(x, y, radius, "llm-mid", "llm", hint, address(one.human, one.score)))
        label = thin(one.outputs)
        if radius >= 0.3 * LABEL * len(label) + 2 and one.outputs > 1:
            shapes.append(Words(x, y + 3.2, label, "ink", "middle", size=LABEL))
    return Drawing(
        kind="bubbles",
        title=_finding(judge),
        caption=(
            f"{numbers.name}: {numbers.human_label} (across) and {judge.name}'s score (up) of"
            f" {counted(judge.outputs, 'output')}. Circle area = number of"
            f" outputs.{_diagonal(judge)} {judge.correlation}, 95 % interval in brackets."
        ),
        height=HEIGHT,
        shapes=tuple(shapes),
        columns=("human score", "judge's score", "outputs"),
        rows=tuple(
            (f"{bubble.human:.2f}", f"{bubble.score:.2f}", thin(bubble.outputs))
            for bubble in judge.bubbles
        ),
    )


def _finding(judge: JudgeNumbers) -> str:
    if not judge.on_scale or abs(judge.gap) < 0.05:
        return f"{judge.name} and people: {judge.correlation}"
    side = "more" if judge.gap > 0 else "less"
    return f"{judge.name} gives {abs(judge.gap):.1f} {side} than people on average"


def _diagonal(judge: JudgeNumbers) -> str:
    if judge.on_scale:
        return f" On the dashed line both agree; the mean difference is {signed(judge.gap)}."
    return " Scores are on another scale than ratings, so there is no line on which both agree."


def _ground(
    across: tuple[float, float], up: tuple[float, float], judge: JudgeNumbers, label: str
) -> Iterable[Shape]:
    for value in _ticks(across):
        x = _at(value, across, LEFT, RIGHT)
        yield Line(x, TOP - 8, x, BOTTOM + 8, "grid")
        yield Words(x, BOTTOM + 22, short(value), "quiet", "middle")
    for value in _ticks(up):
        y = _at(value, up, BOTTOM, TOP)
        yield Line(LEFT - 12, y, RIGHT + 12, y, "grid")
        yield Words(LEFT - 16, y + 4, short(value), "quiet", "end")
    if judge.on_scale:
        yield Line(LEFT, BOTTOM, RIGHT, TOP, "axis", dashed=True)
    yield Words(0, 10, "judge's score", "llm")
    yield Words(RIGHT + 12, 10, judge.correlation, "ink", "end", is_bold=True)
    yield Words(RIGHT + 12, HEIGHT - 4, label, "human", "end")


def _radii(found: tuple[Bubble, ...]) -> dict[tuple[float, float], float]:
    most = max((one.outputs for one in found), default=1)
    return {
        (one.human, one.score): max(2.0, LARGEST * math.sqrt(one.outputs / most)) for one in found
    }


def _at(value: float, ends: tuple[float, float], begin: float, end: float) -> float:
    return begin + (end - begin) * (value - ends[0]) / (ends[1] - ends[0])


def _ends(values: list[float]) -> tuple[float, float]:
    low, high = min(values), max(values)
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def _ticks(ends: tuple[float, float]) -> list[float]:
    """Whole numbers between the ends if they are few, else quarters of the way."""
    low, high = ends
    if low == int(low) and 1 <= high - low < MOST_TICKS and high == int(high):
        return [float(value) for value in range(int(low), int(high) + 1)]
    return [float(f"{low + (high - low) * part / 4:.3g}") for part in range(5)]
