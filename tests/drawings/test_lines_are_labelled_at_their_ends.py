"""Lines have their names at their ends, and no legend elsewhere."""

from dataclasses import replace

import pytest

from geval.reports.drawings.numbers import SystemMeans
from geval.reports.drawings.shapes import Words
from geval.reports.drawings.slopes import slopes
from tests.drawings.made_up import criterion_numbers, judge_numbers


@pytest.mark.parametrize(
    ("judged", "finding"),
    [
        ((3.0, 2.0), "G-Eval ranks the systems in the same order as people"),
        ((2.0, 3.0), "G-Eval ranks the systems in the opposite order"),
        ((2.0, 2.0), "G-Eval ranks 0 of 1 pair of systems as people do"),
        ((3.0, 1.0, 2.0), "G-Eval ranks 2 of 3 pairs of systems as people do"),
        ((1.0, 2.0, 3.0), "With G-Eval, a falls from 1st to 3rd, c rises from 3rd to 1st"),
    ],
)
def test_the_finding_of_a_slope_chart_is_what_it_draws(
    judged: tuple[float, ...], finding: str
) -> None:
    systems = tuple(
        SystemMeans(name, 5.0 - at, mean)
        for at, (name, mean) in enumerate(zip("abc", judged, strict=False))
    )

    drawing = slopes(criterion_numbers(), replace(judge_numbers(1, "G-Eval"), systems=systems))

    assert drawing.title == finding
    assert "G-Eval's order" in {each.text for each in drawing.shapes if isinstance(each, Words)}
