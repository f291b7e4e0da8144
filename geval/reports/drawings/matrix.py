"""The agreement matrix of judges and annotators: a triangle, as it is symmetric."""

from collections.abc import Iterable

from geval.reports.drawings.numbers import MOST_SIDES, CriterionNumbers, JudgeNumbers
from geval.reports.drawings.shapes import (
    JUDGE,
    PEOPLE,
    TEXT,
    WIDTH,
    Box,
    Drawing,
    Shape,
    Words,
    width_of,
    wrapped,
)
from geval.texts.numbers import two_decimals

LINE, ROW = 12.0, 22.0
HEAD, FOOT = 4.0, 16.0
# The largest share of the width for names.
NAMES = 0.34
# Numbers in the smallest cells have five points, the minimum of journals.
LEAST_CELL, WIDEST_CELL = 17.5, 60.0
# Where letters would be smaller, the leading 0 is left out.
LEAST_SIZE = 8.0
# The darkest shade on which text is readable.
DARKEST = 0.55
KEY_STEPS, KEY_CELL, KEY_HEIGHT = (-1.0, -0.5, 0.0, 0.5, 1.0), 26.0, 10.0
KEY_NAME = 26.0


def matrix(numbers: CriterionNumbers, judge: JudgeNumbers, width: float = WIDTH) -> Drawing:
    """Return the drawing: a row for each, a column for each but the last, numbered like the
    rows."""
    names = [f"{middle + 1}  {name}" for middle, name in enumerate(numbers.sides)]
    cells = len(names) - 1
    longest = max(width_of(name, is_bold=True) for name in names)
    left = min(NAMES * width, longest + 8, width - LEAST_CELL * cells)
    wide = min(WIDEST_CELL, (width - left) / cells)
    lines = [wrapped(name, left - 8, is_bold=True) for name in names]
    shapes: list[Shape] = []
    # The key is in the free corner above the triangle.
    key_left = width - KEY_CELL * len(KEY_STEPS)
    free = int((key_left - KEY_NAME - left) / wide)
    top, under_key = HEAD, KEY_HEIGHT + 2 * LINE
    for row, name in enumerate(lines):
        if row > free and top < under_key:
            top = under_key
        high = max(ROW, LINE * len(name) + 4)
        shapes.extend(_row(numbers, judge, row, name, left, wide, top, high))
        top += high
    shapes.extend(_key(key_left))
    for column in range(len(names) - 1):
        role = PEOPLE if numbers.people[column] else JUDGE
        middle = left + (column + 0.5) * wide
        shapes.append(Words(middle, top + 12, str(column + 1), role, "middle"))
    return Drawing(
        kind="matrix",
        title=_finding(numbers, judge),
        caption=(
            f"{numbers.name}: summary-level rho of each two judges (in colour) and annotators (in"
            " ink) over the outputs that both rated; columns are numbered as rows. The stronger the"
            " shade, the more two agree; a dash means that there is no correlation. At most"
            f" {MOST_SIDES} of each are shown."
        ),
        height=top + FOOT,
        shapes=tuple(shapes),
        columns=("", *numbers.sides),
        rows=tuple(
            (name, *("" if middle == row else _text(value) for middle, value in enumerate(values)))
            for row, (name, values) in enumerate(zip(numbers.sides, numbers.pairs, strict=True))
        ),
        width=width,
    )


def _row(
    numbers: CriterionNumbers,
    judge: JudgeNumbers,
    row: int,
    name: list[str],
    left: float,
    wide: float,
    top: float,
    high: float,
) -> Iterable[Shape]:
    is_person = numbers.people[row]
    is_chosen = not is_person and numbers.sides[row] == judge.name
    middle = top + high / 2
    first = middle + 4 - LINE * (len(name) - 1) / 2
    for index, text in enumerate(name):
        role = PEOPLE if is_person else JUDGE
        yield Words(0, first + index * LINE, text, role, is_bold=is_chosen)
    for column, value in enumerate(numbers.pairs[row][:row]):
        x = left + column * wide
        hint = f"{numbers.sides[row]} and {numbers.sides[column]}: {_text(value)}"
        role, shade = _shade(value)
        yield Box(x + 0.5, top + 0.5, wide - 1, high - 1, role, shade, hint)
        is_own = not numbers.people[column] and numbers.sides[column] == judge.name
        text, size = _in_cell(_text(value), wide, is_bold=is_chosen or is_own)
        yield Words(
            x + wide / 2, middle + size / 3, text, "ink", "middle", is_chosen or is_own, size
        )


def _shade(value: float | None) -> tuple[str, float]:
    """Return the shade: agreement in colour, disagreement in ink."""
    return (
        "ink" if (value or 0) < 0 else JUDGE,
        0.0 if value is None else round(DARKEST * abs(value), 3),
    )


def _in_cell(text: str, wide: float, *, is_bold: bool) -> tuple[str, float]:
    """Return the text that fits in a cell, and its size."""
    size = TEXT * min(1.0, (wide - 3) / width_of(text, is_bold=is_bold))
    if size >= LEAST_SIZE or "0." not in text:
        return text, size
    text = text.replace("0.", ".", 1)
    return text, TEXT * min(1.0, (wide - 2) / width_of(text, is_bold=is_bold))


def _key(left: float) -> Iterable[Shape]:
    for index, value in enumerate(KEY_STEPS):
        x = left + index * KEY_CELL
        role, shade = _shade(value)
        yield Box(x, 0, KEY_CELL, KEY_HEIGHT, role, shade)
        label = f"{value:g}".replace("-", "−")
        yield Words(x + KEY_CELL / 2, KEY_HEIGHT + 11, label, "quiet", "middle", size=TEXT - 1)
    yield Words(left - 5, KEY_HEIGHT - 1, "rho", "quiet", "end", size=TEXT - 1)


def _text(value: float | None) -> str:
    return "–" if value is None else two_decimals(value)


def _finding(numbers: CriterionNumbers, judge: JudgeNumbers) -> str:
    own = next(
        (row for row, name in enumerate(numbers.sides)
         if name == judge.name and not numbers.people[row]), None
    )  # fmt: skip
    raters = [row for row, is_person in enumerate(numbers.people) if is_person]
    with_judge = [numbers.pairs[own][row] for row in raters] if own is not None else []
    among = [numbers.pairs[a][b] for a in raters for b in raters if a < b]
    means = [
        sum(defined) / len(defined)
        for values in (with_judge, among)
        if (defined := [value for value in values if value is not None])
    ]
    if len(means) < 2 or not with_judge:
        return "Judges and annotators among themselves"
    return (
        f"Two annotators agree with each other at {two_decimals(means[1])},"
        f" {judge.name} with one of them at {two_decimals(means[0])}"
    )
