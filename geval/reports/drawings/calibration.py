"""Calibration plots: people's ratings of outputs with similar scores, a small square for each
judge, the chosen one first, with the frequencies of scores at the bottom."""

import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from geval.reports.drawings.numbers import CriterionNumbers, JudgeNumbers
from geval.reports.drawings.shapes import (
    JUDGE,
    TEXT,
    WIDTH,
    Box,
    Dot,
    Drawing,
    Line,
    Shape,
    Words,
    width_of,
    wrapped,
)
from geval.statistics.resampling import Interval
from geval.statistics.scales import short
from geval.texts.numbers import in_brackets, signed, thin, two_decimals
from geval.texts.sentences import listed

LEFT, GAP, FOOT, LINE = 36.0, 22.0, 26.0, 12.0
LEAST_SIDE, MOST_SIDE = 80.0, 200.0
# The height for the title of the axes below all squares.
TITLE = 14.0
SMALL = TEXT - 2
# The share of a square's height for the most frequent score.
TALLEST = 0.22
# Smaller mean differences do not count as a bias.
LEAST_GAP = 0.1


@dataclass(frozen=True)
class _Panel:
    """A judge's square with its heading, positioned by its top left corner."""

    judge: JudgeNumbers
    head: tuple[str, ...]
    about: tuple[str, ...]

    @property
    def head_height(self) -> float:
        return LINE * len(self.head) + (LINE - 1) * len(self.about) + 6


def calibration(numbers: CriterionNumbers, judge: JudgeNumbers, width: float = WIDTH) -> Drawing:
    """Return the drawing of all judges on the criterion's scale."""
    drawn = [other for other in numbers.judges if other.calibration]
    drawn.sort(key=lambda other: other.pk != judge.pk)
    columns = min(len(drawn), int((width - LEFT + GAP) / (LEAST_SIDE + GAP)))
    step = (width - LEFT + GAP - 12) / columns
    side = min(MOST_SIDE, step - GAP)
    panels = [_panel(shown, min(step - 4, max(side, step - GAP))) for shown in drawn]
    shapes: list[Shape] = []
    top = 0.0
    for begin in range(0, len(panels), columns):
        row = panels[begin : begin + columns]
        top += max(panel.head_height for panel in row)
        for place, panel in enumerate(row):
            left = LEFT + place * (side + GAP)
            is_chosen = panel.judge.pk == judge.pk
            shapes.extend(_square(numbers, panel, left, top, side, is_chosen=is_chosen))
        shapes.append(
            Words(
                9, top + side / 2, "mean human score", "ink", "middle", size=SMALL, is_turned=True
            )
        )
        top += side + FOOT
    middle = LEFT + (columns * (side + GAP) - GAP) / 2
    shapes.append(Words(middle, top + 2, "judge's mean score", "ink", "middle", size=SMALL + 1))
    left_out = [other.name for other in numbers.judges if not other.on_scale]
    note = f" Not drawn, because on another scale: {listed(left_out)}." if left_out else ""
    return Drawing(
        kind="calibration",
        title=_finding(drawn),
        caption=(
            f"{numbers.name}: outputs in groups of similar scores. Across: the judge's mean score;"
            " up: people's mean score with its 95 % interval over documents, from ten documents"
            " up. On the dashed line the score needs no correction. Bars at the foot: how often"
            f" each score was given.{note}"
        ),
        height=top + TITLE - 6,
        shapes=tuple(shapes),
        columns=("judge", "mean score", "mean human score", "95 % interval", "outputs"),
        rows=tuple(
            (
                other.name, two_decimals(point.score), two_decimals(point.rating),
                in_brackets(Interval(point.low, point.high)) or "–",
                thin(point.outputs),
            )
            for other in drawn for point in other.calibration
        ),
        width=width,
    )  # fmt: skip


def _panel(judge: JudgeNumbers, width: float) -> _Panel:
    about = f"n = {thin(judge.outputs)}", f"mean gap {signed(judge.gap, 1)}"
    together = ", ".join(about)
    fits = width_of(together, SMALL) <= width
    name = wrapped(judge.name, width, is_bold=True)
    return _Panel(judge, tuple(name), (together,) if fits else about)


def _square(
    numbers: CriterionNumbers,
    panel: _Panel,
    left: float,
    top: float,
    side: float,
    *,
    is_chosen: bool,
) -> Iterable[Shape]:
    low, high, judge = numbers.lowest, numbers.highest, panel.judge
    role = JUDGE if is_chosen else "other"

    def x(value: float) -> float:
        return left + side * (min(max(value, low), high) - low) / (high - low)

    def y(value: float) -> float:
        return top + side * (1 - (min(max(value, low), high) - low) / (high - low))

    baseline = top - panel.head_height + LINE - 2
    for text in panel.head:
        yield Words(left, baseline, text, JUDGE if is_chosen else "ink", is_bold=is_chosen)
        baseline += LINE
    for text in panel.about:
        yield Words(left, baseline - 1, text, "quiet", size=SMALL)
        baseline += LINE - 1
    for value in (low, (low + high) / 2, high):
        yield Line(left, y(value), left + side, y(value), "grid")
        yield Words(left - 4, y(value) + 3, short(value), "quiet", "end", size=SMALL)
        yield Words(x(value), top + side + 11, short(value), "quiet", "middle", size=SMALL)
    yield from _tallies(judge, x, top + side, side, role)
    yield Line(left, top + side, left + side, top, "axis", dashed=True)
    for bin_ in judge.calibration:
        if bin_.low is not None and bin_.high is not None:
            yield Line(x(bin_.score), y(bin_.low), x(bin_.score), y(bin_.high), role, 1.5)
        interval = in_brackets(Interval(bin_.low, bin_.high))
        people = f"{two_decimals(bin_.rating)} {interval}".rstrip()
        hint = f"{judge.name} {two_decimals(bin_.score)}: people {people}, n = {thin(bin_.outputs)}"
        yield Dot(x(bin_.score), y(bin_.rating), 2.6, role, hint=hint)


def _tallies(
    judge: JudgeNumbers, x: Callable[[float], float], foot: float, side: float, role: str
) -> Iterable[Shape]:
    most = max((tally.outputs for tally in judge.tallies), default=1)
    places = sorted(x(tally.value) for tally in judge.tallies)
    gaps = [b - a for a, b in itertools.pairwise(places) if b > a]
    wide = max(0.8, min([6.0, *(0.8 * gap for gap in gaps)]))
    for tally in judge.tallies:
        high = TALLEST * side * tally.outputs / most
        yield Box(x(tally.value) - wide / 2, foot - high, wide, high, role, 0.3)


def _finding(drawn: list[JudgeNumbers]) -> str:
    strict = [judge for judge in drawn if judge.gap <= -LEAST_GAP]
    mild = [judge for judge in drawn if judge.gap >= LEAST_GAP]
    if len(drawn) == 1:
        side = "stricter than" if strict else "milder than" if mild else "as strict as"
        return f"{drawn[0].name} is {side} people"
    if not strict and not mild:
        return "Judges are as strict as people"
    phrases = [
        f"{len(some)} {'judge is' if len(some) == 1 else 'judges are'} {word} than people"
        for some, word in ((strict, "stricter"), (mild, "milder"))
        if some
    ]
    return ", ".join(phrases)
