"""Scores and ratings of outputs: circles where values are few, hexagons where they are continuous,
and neither hides another."""

import itertools

import pytest

from geval.reports.drawings.shapes import Box, Dot
from tests.drawings.made_up import WIDTHS, criterion_numbers, drawn, words


@pytest.mark.parametrize("width", WIDTHS)
def test_circles_by_count_do_not_reach_each_other(width: float) -> None:
    scatter = drawn(criterion_numbers(), "bubbles", width)
    circles = [one for one in scatter.shapes if isinstance(one, Dot) and one.hint]

    assert len(circles) == 13 * 5
    for a, b in itertools.combinations(circles, 2):
        assert (a.x - b.x) ** 2 + (a.y - b.y) ** 2 > (a.radius + b.radius) ** 2


def test_areas_are_in_proportion_to_outputs() -> None:
    scatter = drawn(criterion_numbers(), "bubbles", WIDTHS[1])
    circles = [one for one in scatter.shapes if isinstance(one, Dot) and one.hint]
    largest = max(circles, key=lambda one: one.radius)
    half = next(one for one in circles if one.hint.startswith("31 outputs"))

    assert largest.hint.startswith("61 outputs")
    assert (half.radius / largest.radius) ** 2 == pytest.approx(31 / 61)


def test_marginals_have_a_bar_for_each_value_and_the_count_of_the_longest() -> None:
    scatter = drawn(criterion_numbers(), "bubbles")
    bars = [one for one in scatter.shapes if isinstance(one, Box)]
    people = [one for one in bars if one.role == "other"]
    own = [one for one in bars if one.role == "llm"]

    assert [one.height for one in people] == pytest.approx(
        [people[-1].height * part / 5 for part in range(1, 6)]
    )
    assert [one.width for one in own] == pytest.approx(
        [own[-1].width * part / 5 for part in range(1, 6)]
    )
    assert words(scatter).count("50") >= 2
