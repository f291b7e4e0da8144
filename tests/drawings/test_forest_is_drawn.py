"""The forest: one rater, judges in the page's order, and what reads nothing."""

import itertools
from dataclasses import replace

import pytest

from geval.reports.drawings.shapes import Box, Dot, Line, Words
from tests.drawings.made_up import WIDTHS, criterion_numbers, drawn, words


@pytest.mark.parametrize("width", WIDTHS)
def test_each_line_has_its_value_with_its_interval(width: float) -> None:
    forest = drawn(criterion_numbers(), "forest", width)

    assert "0.68 [0.65, 0.71]" in words(forest)
    assert "0.01 [−0.06, 0.07]" in words(forest)
    assert [row[0] for row in forest.rows] == [
        "one rater", "judge 1", "judge 2", "judge 3", "length alone",
    ]  # fmt: skip
    assert len([one for one in forest.shapes if isinstance(one, Dot)]) == len(forest.rows)


def test_people_are_ink_judges_the_colour_and_other_scales_grey() -> None:
    forest = drawn(criterion_numbers(), "forest")

    roles = [one.role for one in forest.shapes if isinstance(one, Dot)]

    assert roles == ["ink", "llm", "llm", "other", "axis"]


def test_the_chosen_judge_is_bold() -> None:
    forest = drawn(criterion_numbers(), "forest", judge=2)

    bold = {one.text for one in forest.shapes if isinstance(one, Words) and one.is_bold}

    assert bold == {"judge 2", "0.50 [0.40, 0.60]"}


def test_the_shade_begins_at_the_bar_and_ends_with_the_interval_of_one_rater() -> None:
    numbers = criterion_numbers()
    forest = drawn(numbers, "forest")
    (line,) = [one for one in forest.shapes if isinstance(one, Line) and one.dashed]
    shade = next(one for one in forest.shapes if isinstance(one, Box))

    # The bar, one rater and the end of its interval are in proportion.
    share = (line.x1 - shade.x) / shade.width
    assert share == pytest.approx((0.68 - 0.58) / (0.71 - 0.58))


def test_without_one_rater_there_is_no_shade_and_no_word_of_one() -> None:
    numbers = criterion_numbers()
    forest = drawn(replace(numbers, forest=numbers.forest[1:], bar=None), "forest")

    assert not [one for one in forest.shapes if isinstance(one, Box)]
    assert "one rater" not in forest.caption


def test_two_columns_have_room_for_the_number_of_outputs() -> None:
    narrow, wide = (words(drawn(criterion_numbers(), "forest", width)) for width in WIDTHS)

    assert "outputs" in wide
    assert "1\u202f600" in wide
    assert "outputs" not in narrow


def test_labels_of_the_axis_do_not_meet() -> None:
    numbers = criterion_numbers()
    far = replace(numbers.forest[-1], low=-1.0, high=1.0)
    forest = drawn(replace(numbers, forest=(*numbers.forest[:-1], far)), "forest")

    ticks = sorted(
        one.x for one in forest.shapes if isinstance(one, Words) and one.anchor == "middle"
    )

    assert min(b - a for a, b in itertools.pairwise(ticks)) >= 20
