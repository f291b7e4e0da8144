"""The calibration figure: axis titles, n, and how often each score was given."""

import pytest

from geval.reports.drawings.shapes import Box, Dot
from tests.drawings.made_up import criterion_numbers, drawn


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
