"""Mean gaps with their intervals, how far raters are apart, and which of two judges
agrees."""

import numpy as np
import pytest
from scipy import stats

from geval.statistics.arrays import Outputs, Ratings
from geval.statistics.mean_gaps import mean_gap, spreads
from geval.statistics.same_documents import (
    BOTH,
    ONLY_FIRST,
    ONLY_SECOND,
    REST,
    score_grid,
    who_agrees,
)


def test_with_one_output_a_document_the_interval_is_students() -> None:
    gaps = np.random.default_rng(0).normal(-0.7, 1, 40)

    found = mean_gap(Outputs.full(40, 1), gaps)

    expected = stats.ttest_1samp(gaps, 0).confidence_interval()
    assert found.interval.ends == pytest.approx(tuple(expected))
    assert found.mean == pytest.approx(gaps.mean())
    assert found.is_clear


def test_the_spread_is_from_the_lowest_to_the_highest_rating() -> None:
    nan = np.nan
    ratings = Ratings.of_table(np.array([[1, 4, nan], [5, nan, nan], [2, 4, nan]]))

    assert spreads(ratings).tolist() == [4, 0, 0]


def test_exactly_one_agrees_within_half_a_step_and_more_than_one_step_away() -> None:
    human = np.full(6, 3.0)
    first = np.array([3.5, 3.5, 1.9, 3.0, 1.0, 2.4])
    second = np.array([1.9, 2.5, 3.0, 4.0, 5.0, 3.0])

    found = who_agrees(human, first, second, 1.0).tolist()

    assert found == [ONLY_FIRST, BOTH, ONLY_SECOND, REST, REST, REST]


def test_scores_are_counted_at_their_nearest_points() -> None:
    grid = score_grid(
        np.array([1.0, 2.4, 3.0, 9.0]), np.array([1.0, 2.0, 1.49, -5.0]), np.array([1.0, 2.0, 3.0])
    )

    assert grid.counts.tolist() == [[1, 0, 0], [0, 1, 0], [2, 0, 0]]
    assert grid.same == 0.5
