"""Lines have their names at their ends, and no legend elsewhere."""

import itertools
from dataclasses import replace

import pytest

from geval.reports.drawings.numbers import SystemMeans
from geval.reports.drawings.shapes import Line, Words
from geval.reports.drawings.slopes import slopes
from tests.drawings.made_up import WIDTHS, criterion_numbers, drawn, judge_numbers


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("count", [1, 3, 20])
def test_each_curve_of_precision_ends_at_its_name(width: float, count: int) -> None:
    figure = drawn(criterion_numbers(count), "precision", width)
    names = {f"judge {pk}" for pk in range(1, count + 1)}
    labels = {
        one.text: one for one in figure.shapes if isinstance(one, Words) and one.text in names
    }
    leaders = [one for one in figure.shapes if isinstance(one, Line) and one.width == 0.6]

    assert set(labels) == names
    # A short line leads from the end of each curve to its name.
    assert {(one.x2 + 2, one.y2 + 4) for one in leaders} == {
        (one.x, one.y) for one in labels.values()
    }
    places = sorted(one.y for one in labels.values())
    assert all(b - a >= 11.9 for a, b in itertools.pairwise(places))
    assert places[0] >= 9


@pytest.mark.parametrize("width", WIDTHS)
def test_each_slope_has_its_system_at_both_ends(width: float) -> None:
    figure = drawn(criterion_numbers(), "systems", width)
    said = [one.text for one in figure.shapes if isinstance(one, Words)]

    assert len([text for text in said if text.startswith("system ")]) == 8
    assert len([text for text in said if " system " in text]) == 8


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
