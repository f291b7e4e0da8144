"""The matrix of judges and annotators: whole names, a key, and numbers that can be read."""

import pytest

from geval.reports.drawings.shapes import Box
from tests.drawings.made_up import WIDTHS, criterion_numbers, drawn, with_long_names, words


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("count", [2, 8])
def test_names_are_whole_however_long(width: float, count: int) -> None:
    numbers = with_long_names(criterion_numbers(count, count))
    matrix = drawn(numbers, "matrix", width)

    together = "".join(words(matrix)).replace(" ", "")

    assert "…" not in together
    for name in numbers.sides:
        assert name.replace(" ", "") in together


def test_each_two_have_one_cell_that_names_both() -> None:
    numbers = criterion_numbers(2, 2)
    hints = [
        one.hint for one in drawn(numbers, "matrix").shapes if isinstance(one, Box) and one.hint
    ]

    assert len(hints) == 4 * 3 / 2
    assert "rater 0 and judge 1: 0.68" in hints
