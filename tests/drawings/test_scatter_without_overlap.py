"""Scores and ratings of outputs: circles where values are few, hexagons where they are continuous,
and neither hides another."""

import itertools
from dataclasses import replace

import pytest

from geval.reports.drawings.numbers import Bubble
from geval.reports.drawings.shapes import Box, Dot, Hexagon, Words
from tests.drawings.made_up import WIDTHS, criterion_numbers, drawn, judge_numbers, words


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


def test_hexagons_lie_side_by_side_and_are_darker_for_more_outputs() -> None:
    column, row = 0.25, 0.3
    tiles = tuple(
        Bubble(1 + column * i, 1 + row * (j + (i % 2) / 2), 1 + i + j, (1,))
        for i in range(16)
        for j in range(12)
    )
    judge = replace(judge_numbers(1), bubbles=tiles, tile=(column, row))
    scatter = drawn(replace(criterion_numbers(), judges=(judge,)), "bubbles")

    hexagons = [one for one in scatter.shapes if isinstance(one, Hexagon) and one.hint]

    assert len(hexagons) == len(tiles)
    step = (max(one.x for one in hexagons) - min(one.x for one in hexagons)) / 15
    # Corners of a column reach into the notches of the next, and no further.
    assert all(one.width <= 4 / 3 * step for one in hexagons)
    by_count = sorted(hexagons, key=lambda one: int(one.hint.split()[0]))
    assert by_count[0].opacity < by_count[len(tiles) // 2].opacity < by_count[-1].opacity == 1
    assert "hexagon" in scatter.caption
    assert "near " in hexagons[0].hint


def test_each_axis_says_whose_values_it_has() -> None:
    scatter = drawn(criterion_numbers(), "bubbles")
    titles = {one.text: one for one in scatter.shapes if isinstance(one, Words)}

    assert titles["judge 1's score"].is_turned
    assert titles["judge 1's score"].role == "llm"
    assert not titles["mean human rating"].is_turned
    assert titles["mean human rating"].role == "ink"


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


def test_the_key_says_what_sizes_mean() -> None:
    scatter = drawn(criterion_numbers(), "bubbles")

    assert "outputs" in words(scatter)
    assert {"1", "15", "61"} <= set(words(scatter))
