"""How well each two judges and annotators agree; nobody with themselves."""

from collections.abc import Iterable

from geval.drawings.numbers import MOST_SIDES, CriterionNumbers, JudgeNumbers
from geval.drawings.shapes import WIDTH, Box, Drawing, Shape, Words, fitting
from geval.texts.numbers import two_decimals

NAMES = 84.0
MOST_HIGH = 26.0
FOOT = 4.0
HEAD = 20.0
# The strongest shade on which ink can be read.
DARKEST = 0.55


def matrix(numbers: CriterionNumbers, judge: JudgeNumbers) -> Drawing:
    """The drawing: a row and a column for each, columns numbered as the rows."""
    count = len(numbers.sides)
    wide = (WIDTH - NAMES) / max(1, count)
    high = min(MOST_HIGH, wide)
    shapes: list[Shape] = []
    for row in range(count):
        shapes.extend(_row(numbers, judge, row, wide, high))
    return Drawing(
        kind="matrix",
        title=_finding(numbers, judge),
        caption=(
            f"{numbers.name}: summary-level rho of each two judges (blue) and annotators (brown)"
            " over the outputs that both rated; the diagonal is left out. The stronger the shade,"
            " the more two agree; a dash means that there is no correlation. At most"
            f" {MOST_SIDES} of each are shown."
        ),
        height=HEAD + count * high + FOOT,
        shapes=tuple(shapes),
        columns=("", *numbers.sides),
        rows=tuple(
            (name, *("" if at == row else _text(value) for at, value in enumerate(values)))
            for row, (name, values) in enumerate(zip(numbers.sides, numbers.pairs, strict=True))
        ),
    )


def _row(
    numbers: CriterionNumbers, judge: JudgeNumbers, row: int, wide: float, high: float
) -> Iterable[Shape]:
    name, is_person = numbers.sides[row], numbers.people[row]
    is_chosen = not is_person and name == judge.name
    role = "human" if is_person else "llm"
    middle = HEAD + (row + 0.5) * high
    label = f"{row + 1} {fitting(name, NAMES - 20)}"
    yield Words(0, middle + 4, label, role, is_bold=is_chosen)
    yield Words(
        NAMES + (row + 0.5) * wide, HEAD - 7, str(row + 1), role, "middle", is_bold=is_chosen
    )
    size = min(11.0, wide / 2.6)
    for column, value in enumerate(numbers.pairs[row]):
        left = NAMES + column * wide
        if column == row:
            continue
        if value is not None:
            shade = "llm" if value >= 0 else "human"
            yield Box(
                left + 0.5, HEAD + row * high + 0.5, wide - 1, high - 1, shade,
                round(DARKEST * abs(value), 3),
            )  # fmt: skip
        is_bold = is_chosen or (not numbers.people[column] and numbers.sides[column] == judge.name)
        yield Words(
            left + wide / 2, middle + size / 3, _text(value), "ink", "middle", is_bold, size
        )


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
        sum(known) / len(known)
        for values in (with_judge, among)
        if (known := [value for value in values if value is not None])
    ]
    if len(means) < 2 or not with_judge:
        return "Judges and annotators among themselves"
    return (
        f"Two annotators agree with each other at {means[1]:.2f}, {judge.name} with one of them at"
        f" {means[0]:.2f}"
    )
