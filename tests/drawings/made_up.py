"""Numbers of a criterion to draw, without a database, and what tests ask of drawings."""

from dataclasses import replace

from geval.reports.drawings.drawn import drawings
from geval.reports.drawings.numbers import (
    Bubble,
    Calibrated,
    CriterionNumbers,
    ForestLine,
    JudgeNumbers,
    SystemMeans,
    Tally,
)
from geval.reports.drawings.shapes import UNITS_PER_MM, WIDTHS_MM, Drawing, Words

WIDTHS = tuple(float(wide * UNITS_PER_MM) for wide in WIDTHS_MM)
LONG = "a-very-long-organisation/judge-{}-instruct-turbo-2026-11-26 (temperature 0.7) 測定"
SVG = "{http://www.w3.org/2000/svg}"


def judge_numbers(pk: int, name: str = "", *, on_scale: bool = True) -> JudgeNumbers:
    tallies = tuple(Tally(float(value), 10 * value) for value in range(1, 6))
    return JudgeNumbers(
        pk=pk,
        name=name or f"judge {pk}",
        on_scale=on_scale,
        correlation="rho 0.52 [0.44, 0.60]",
        outputs=1600,
        gap=-0.3,
        seen="",
        bubbles=tuple(
            Bubble(1 + across / 3, float(up), 1 + across * up, (1,))
            for across in range(13)
            for up in range(1, 6)
        ),
        calibration=tuple(
            Calibrated(float(value), value - 0.2, value - 0.4, value + 0.1, 10 * value)
            for value in range(1, 6)
        )
        if on_scale
        else (),
        systems=tuple(SystemMeans(f"system {at}", 3 + at / 9, 4 - at / 9) for at in range(8)),
        documents=100,
        half_width=0.02 + 0.01 * pk,
        tile=None,
        human_tallies=tallies,
        tallies=tallies,
    )


def criterion_numbers(judges: int = 3, people: int = 3) -> CriterionNumbers:
    """With so many judges, the last on another scale where there are several."""
    drawn = tuple(judge_numbers(pk, on_scale=pk in (1, 2, 4, 5)) for pk in range(1, judges + 1))
    names = (*(one.name for one in drawn), *(f"rater {at}" for at in range(people)))
    sides = len(names)
    pairs = tuple(
        tuple(None if a == b else round(0.9 - 0.11 * abs(a - b), 2) for b in range(sides))
        for a in range(sides)
    )
    lines = [ForestLine("one rater", 0, "rater", 0.68, 0.65, 0.71, "", 0)]
    lines += [
        ForestLine(
            one.name, one.pk, "judge" if one.on_scale else "baseline",
            0.6 - 0.05 * one.pk, 0.5 - 0.05 * one.pk, 0.7 - 0.05 * one.pk, "", 1600,
        )
        for one in drawn
    ]  # fmt: skip
    lines.append(ForestLine("length alone", 0, "null", 0.01, -0.06, 0.07, "", 0))
    return CriterionNumbers(
        pk=1,
        name="coherence",
        lowest=1.0,
        highest=5.0,
        documents=100,
        judges=drawn,
        best=1,
        sides=names,
        people=(*[False] * judges, *[True] * people),
        human_label="mean human rating",
        pairs=pairs,
        measure="Summary-level rho with the mean human rating",
        forest=tuple(lines),
        bar=0.58,
    )


def with_long_names(numbers: CriterionNumbers) -> CriterionNumbers:
    return replace(
        numbers,
        name=LONG.format("of a criterion"),
        judges=tuple(
            replace(
                one,
                name=LONG.format(one.pk),
                systems=tuple(
                    replace(system, system=LONG.format(system.system)) for system in one.systems
                ),
            )
            for one in numbers.judges
        ),
        sides=tuple(map(LONG.format, numbers.sides)),
        forest=tuple(replace(line, name=LONG.format(line.name)) for line in numbers.forest),
    )


def drawn(
    numbers: CriterionNumbers, kind: str, width: float = WIDTHS[0], judge: int = 1
) -> Drawing:
    found = {one.kind: one for one in drawings(numbers, numbers.judge(judge), width=width)}
    return found[kind]


def words(drawing: Drawing) -> list[str]:
    return [shape.text for shape in drawing.shapes if isinstance(shape, Words)]
