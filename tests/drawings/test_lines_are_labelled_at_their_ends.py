"""Lines have their names at their ends, and no legend elsewhere."""

import itertools

import pytest

from geval.reports.drawings.shapes import Line, Words
from tests.drawings.made_up import WIDTHS, criterion_numbers, drawn


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
