"""The matrix of judges and annotators: whole names, a key, and numbers that can be read."""

from dataclasses import replace

import pytest

from geval.reports.drawings.shapes import Box, Words
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


def test_a_key_says_what_shades_mean_and_stands_in_nobodys_way() -> None:
    for count in (1, 8):
        matrix = drawn(criterion_numbers(count, count), "matrix")
        boxes = [one for one in matrix.shapes if isinstance(one, Box)]
        key, cells = ([one for one in boxes if bool(one.hint) == kind] for kind in (False, True))

        assert {"rho", "−1", "−0.5", "0", "0.5", "1"} <= set(words(matrix))
        assert [one.opacity for one in key] == [0.55, 0.275, 0, 0.275, 0.55]
        assert [one.role for one in key] == ["ink", "ink", "llm", "llm", "llm"]
        foot = max(one.y + one.height for one in key) + 12
        left = min(one.x for one in key) - 20
        assert not [one for one in cells if one.y < foot and one.x + one.width > left]


def test_numbers_of_sixteen_can_still_be_read_in_one_column() -> None:
    numbers = criterion_numbers(8, 8)
    pairs = tuple(tuple(None if a == b else -0.11 for b in range(16)) for a in range(16))
    for matrix in (
        drawn(numbers, "matrix"),
        drawn(with_long_names(replace(numbers, pairs=pairs)), "matrix"),
    ):
        cells = [one for one in matrix.shapes if isinstance(one, Words) and "." in one.text]
        # Five points are what journals ask for; a point is 1.41 units.
        assert min(one.size for one in cells if one.anchor == "middle") >= 5 * 1.41
