"""The calibration figure: axis titles, n, and how often each score was given."""

import pytest

from geval.reports.drawings.shapes import Box, Dot
from tests.drawings.made_up import WIDTHS, criterion_numbers, drawn, words


@pytest.mark.parametrize("width", WIDTHS)
def test_axes_have_titles_and_each_judge_its_n(width: float) -> None:
    said = words(drawn(criterion_numbers(5), "calibration", width))

    assert "judge's mean score" in said
    assert "mean human score" in said
    assert len([text for text in said if text.startswith("n = 1\u202f600")]) == 4


def test_bars_at_the_foot_are_the_frequencies_of_scores() -> None:
    figure = drawn(criterion_numbers(1), "calibration")
    bars = [one for one in figure.shapes if isinstance(one, Box)]
    feet = {round(one.y + one.height, 6) for one in bars}

    assert len(feet) == 1
    assert [one.height / bars[0].height for one in bars] == pytest.approx([1, 2, 3, 4, 5])
    # They stand where their scores are.
    dots = [one.x for one in figure.shapes if isinstance(one, Dot)]
    assert [one.x + one.width / 2 for one in bars] == pytest.approx(dots)


def test_points_say_their_interval_and_count() -> None:
    figure = drawn(criterion_numbers(1), "calibration")
    hints = [one.hint for one in figure.shapes if isinstance(one, Dot)]

    assert "judge 1 4.00: people 3.80 [3.60, 4.10], n = 40" in hints


def test_one_judge_gets_the_room_of_several() -> None:
    alone, many = (
        max(one.x for one in drawn(criterion_numbers(count), "calibration").shapes
            if isinstance(one, Dot))
        - min(one.x for one in drawn(criterion_numbers(count), "calibration").shapes
              if isinstance(one, Dot))
        for count in (1, 2)
    )  # fmt: skip

    assert alone == pytest.approx(200)
    assert many > alone
