"""What people gave to outputs with similar scores: a small square for each judge, the chosen one
first."""

from collections.abc import Iterable

from geval.drawings.numbers import CriterionNumbers, JudgeNumbers
from geval.drawings.shapes import TEXT, Dot, Drawing, Line, Shape, Words, fitting
from geval.scales import short
from geval.texts.numbers import signed, thin
from geval.texts.sentences import listed

COLUMNS = 3
SIDE, GAP, HEAD, FOOT, LEFT = 86.0, 24.0, 34.0, 22.0, 16.0
# Mean differences below this are no leaning.
LEAST_GAP = 0.1


def calibration(numbers: CriterionNumbers, judge: JudgeNumbers) -> Drawing:
    """The drawing of all judges on the criterion's scale."""
    drawn = [one for one in numbers.judges if one.calibration]
    drawn.sort(key=lambda one: one.pk != judge.pk)
    shapes: list[Shape] = []
    for place, one in enumerate(drawn):
        row, column = divmod(place, COLUMNS)
        left, top = LEFT + column * (SIDE + GAP), HEAD + row * (SIDE + HEAD + FOOT)
        shapes.extend(_square(numbers, one, left, top, is_chosen=one.pk == judge.pk))
    rows = -(-len(drawn) // COLUMNS)
    left_out = [one.name for one in numbers.judges if not one.on_scale]
    said = f" Not drawn, because on another scale: {listed(left_out)}." if left_out else ""
    return Drawing(
        kind="calibration",
        title=_finding(drawn),
        caption=(
            f"{numbers.name}: outputs in groups of similar scores. Across: the judge's mean score;"
            " up: people's mean score with its 95 % interval over documents, from ten documents"
            f" up. On the dashed line the score needs no correction.{said}"
        ),
        height=rows * (SIDE + HEAD + FOOT),
        shapes=tuple(shapes),
        columns=("judge", "mean score", "mean human score", "95 % interval", "outputs"),
        rows=tuple(
            (
                one.name, f"{point.score:.2f}", f"{point.rating:.2f}",
                "–" if point.low is None or point.high is None
                else f"[{point.low:.2f}, {point.high:.2f}]",
                thin(point.outputs),
            )
            for one in drawn for point in one.calibration
        ),
    )  # fmt: skip


def _square(
    numbers: CriterionNumbers, judge: JudgeNumbers, left: float, top: float, *, is_chosen: bool
) -> Iterable[Shape]:
    low, high = numbers.lowest, numbers.highest
    role = "llm" if is_chosen else "other"

    def x(value: float) -> float:
        return left + SIDE * (min(max(value, low), high) - low) / (high - low)

    def y(value: float) -> float:
        return top + SIDE * (1 - (min(max(value, low), high) - low) / (high - low))

    name = fitting(judge.name, SIDE + GAP - 6)
    yield Words(left, top - 19, name, "llm" if is_chosen else "ink", is_bold=is_chosen)
    yield Words(left, top - 6, f"mean gap {signed(judge.gap, 1)}", "quiet", size=TEXT - 1.5)
    for value in (low, (low + high) / 2, high):
        yield Line(left, y(value), left + SIDE, y(value), "grid")
        yield Words(left - 4, y(value) + 3, short(value), "quiet", "end", size=TEXT - 2)
        yield Words(x(value), top + SIDE + 12, short(value), "quiet", "middle", size=TEXT - 2)
    yield Line(left, top + SIDE, left + SIDE, top, "axis", dashed=True)
    for one in judge.calibration:
        if one.low is not None and one.high is not None:
            yield Line(x(one.score), y(one.low), x(one.score), y(one.high), role, 1.5)
        yield Dot(x(one.score), y(one.rating), 2.6, role)


def _finding(drawn: list[JudgeNumbers]) -> str:
    strict = [one for one in drawn if one.gap <= -LEAST_GAP]
    mild = [one for one in drawn if one.gap >= LEAST_GAP]
    if len(drawn) == 1:
        side = "stricter than" if strict else "milder than" if mild else "as strict as"
        return f"{drawn[0].name} is {side} people"
    if not strict and not mild:
        return "Judges are as strict as people"
    said = [
        f"{len(some)} {'judge is' if len(some) == 1 else 'judges are'} {word} than people"
        for some, word in ((strict, "stricter"), (mild, "milder"))
        if some
    ]
    return ", ".join(said)
