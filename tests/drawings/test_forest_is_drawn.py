"""The forest: one rater, judges in the page's order, and what reads nothing."""

import pytest

from geval.reports.drawings.shapes import Box, Dot, Line
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


def test_the_shade_begins_at_the_bar_and_ends_with_the_interval_of_one_rater() -> None:
    numbers = criterion_numbers()
    forest = drawn(numbers, "forest")
    (line,) = [one for one in forest.shapes if isinstance(one, Line) and one.dashed]
    shade = next(one for one in forest.shapes if isinstance(one, Box))

    # The bar, one rater and the end of its interval are in proportion.
    share = (line.x1 - shade.x) / shade.width
    assert share == pytest.approx((0.68 - 0.58) / (0.71 - 0.58))
