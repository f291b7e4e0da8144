"""The precision of correlations by number of documents: the half-width of the 95 % interval."""

import itertools
import math
from collections.abc import Callable, Iterable

import numpy as np

from geval.reports.drawings.numbers import CriterionNumbers, JudgeNumbers
from geval.reports.drawings.shapes import (
    JUDGE,
    WIDTH,
    Dot,
    Drawing,
    Line,
    Shape,
    Words,
    fitting,
    width_of,
)
from geval.statistics.projection import documents_for, half_width_with
from geval.statistics.thresholds import INTERVAL_DOCUMENTS, PROMISE
from geval.texts.numbers import counted, thin

LEFT, TOP, LEAST_HIGH, FOOT = 36.0, 26.0, 152.0, 32.0
# The distance of a name from its line's end, and the share of the width for names.
LABEL, NAMES = 12.0, 0.36
# How far beyond the present number of documents it is projected.
BEYOND = 4
# The curve is drawn in straight pieces, too short to be seen.
STEPS = 40
HEIGHTS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
MOST_TICKS = 5
Place = Callable[[float], float]
GOALS = (0.2, 0.15, 0.1, 0.05, 0.03, 0.02, 0.01)


def precision(numbers: CriterionNumbers, judge: JudgeNumbers, width: float = WIDTH) -> Drawing:
    """Return the drawing of all judges that have an interval; the chosen one is highlighted."""
    judges = [other for other in numbers.judges if other.half_width]
    judges.sort(key=lambda other: other.pk == judge.pk)
    most = BEYOND * max((other.documents for other in judges), default=INTERVAL_DOCUMENTS)
    widest = max((_with(other, INTERVAL_DOCUMENTS) for other in judges), default=1.0)
    step = next(step for step in HEIGHTS if widest <= MOST_TICKS * step)
    ticks = math.ceil(widest / step)
    top = ticks * step
    longest = max((width_of(drawn.name, is_bold=True) for drawn in judges), default=0.0)
    right = width - min(NAMES * width, longest) - 12
    bottom = TOP + max(LEAST_HIGH, LABEL * len(judges))

    def x(documents: float) -> float:
        share = math.log(documents / INTERVAL_DOCUMENTS) / math.log(
            max(2, most / INTERVAL_DOCUMENTS)
        )
        return LEFT + (right - LEFT) * share

    def y(half: float) -> float:
        return bottom - (bottom - TOP) * min(half, top) / top

    shapes: list[Shape] = []
    for index in range(ticks + 1):
        value = round(index * step, 10)
        shapes.append(Line(LEFT, y(value), right, y(value), "grid"))
        shapes.append(
            Words(LEFT - 5, y(value) + 4, f"±{value:g}" if index else "0", "quiet", "end", size=10)
        )
    for documents in _round(most):
        shapes.append(Words(x(documents), bottom + 15, thin(documents), "quiet", "middle"))
    shapes.append(Words(right, bottom + FOOT - 4, "documents", "quiet", "end"))
    shapes.append(Words(0, 10, "half-width of the 95 % interval", "quiet"))
    for other in judges:
        shapes.extend(_curve(other, x, y, most, is_chosen=other.pk == judge.pk))
    shapes.extend(_labels(judges, judge, y, most, right, width))
    return Drawing(
        kind="precision",
        title=_finding(judge, numbers.freedom),
        caption=(
            f"{numbers.name}: half the width of the 95 % interval of the summary-level correlation"
            " by the number of documents. Dots: as measured on the documents that enter it. Lines:"
            " what is likely with other numbers of documents like these, dashed beyond what was"
            " rated. Of two numbers of documents the first is expected, the second suffices in nine"
            " of ten cases."
        ),
        height=bottom + FOOT,
        shapes=tuple(shapes),
        columns=("judge", "documents", "half-width", "for ±0.05", "for ±0.02"),
        rows=tuple(
            (
                other.name, thin(other.documents), f"{other.half_width:.3f}",
                *(_needed(other, goal, numbers.freedom) for goal in (0.05, 0.02)),
            )
            for other in numbers.judges if other.half_width
        ),
        width=width,
    )  # fmt: skip


def _curve(
    judge: JudgeNumbers, x: Place, y: Place, most: float, *, is_chosen: bool
) -> Iterable[Shape]:
    role, width = (JUDGE, 2.0) if is_chosen else ("axis", 0.9)
    counts = np.geomspace(INTERVAL_DOCUMENTS, most, STEPS)
    places = [(x(value), y(_with(judge, value)), value) for value in counts]
    for (x1, y1, _), (x2, y2, end) in itertools.pairwise(places):
        yield Line(x1, y1, x2, y2, role, width, dashed=end > judge.documents)
    half = judge.half_width or 0.0
    hint = f"{judge.name}: ±{half:.2f} with {counted(judge.documents, 'document')}"
    yield Dot(x(judge.documents), y(half), 3.4 if is_chosen else 2.2, role, hint=hint)


def _labels(
    judges: list[JudgeNumbers],
    judge: JudgeNumbers,
    y: Place,
    most: float,
    right: float,
    width: float,
) -> Iterable[Shape]:
    """Place names at the ends of lines, moved apart where they would overlap."""
    ends = sorted((y(_with(other, most)), other.name, other.pk) for other in judges)
    above = y(0) + LABEL
    for end, name, pk in reversed(ends):
        above = min(above - LABEL, end + 4)
        is_chosen = pk == judge.pk
        role = JUDGE if is_chosen else "quiet"
        yield Line(right, end, right + 8, above - 4, "axis", 0.6)
        label = fitting(name, width - right - 10, is_bold=is_chosen)
        yield Words(right + 10, above, label, role, is_bold=is_chosen)


def _with(judge: JudgeNumbers, documents: float) -> float:
    return half_width_with(judge.half_width or 0.0, documents=judge.documents, wanted=documents)


def _needed(judge: JudgeNumbers, goal: float, freedom: float) -> str:
    """Return the expected number, and the number that is enough in nine of ten cases."""
    numbers = [
        documents_for(
            judge.half_width or 0.0,
            documents=judge.documents,
            goal=goal,
            assurance=assured,
            freedom=freedom,
        )
        for assured in (None, PROMISE)
    ]
    if None in numbers:
        return "more than a million"
    return " to ".join(thin(number or 0) for number in numbers)


def _round(most: float) -> list[int]:
    powers = [base * 10**power for power in range(1, 8) for base in (1, 2, 5)]
    shown = [value for value in powers if value <= most]
    return shown if len(shown) <= 6 else [value for value in shown if str(value)[0] == "1"]


def _finding(judge: JudgeNumbers, freedom: float) -> str:
    if not judge.half_width:
        return f"{judge.name} has no interval yet"
    now = (
        f"{thin(judge.documents)} documents give {judge.name}'s correlation ±{judge.half_width:.2f}"
    )
    goal = next((goal for goal in GOALS if goal < 0.8 * judge.half_width), None)
    if goal is None:
        return now
    return f"{now}; ±{goal:g} needs {_needed(judge, goal, freedom)} documents"
