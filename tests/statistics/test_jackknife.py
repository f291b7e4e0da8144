"""Intervals by leaving documents or systems out: right where theory knows the answer, and none
where there is too little to say anything."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from geval.statistics.jackknife import LeftOut, interval_of_the_best
from geval.statistics.resampling import Interval
from geval.statistics.types import FloatArray
from tests.statistics.tables import (
    correlation_interval,
    correlations,
    difference_interval,
    human_ceiling,
    judge_as_a_rater,
    mean_over_raters,
)


def made_up(documents: int, systems: int, seed: int = 0) -> tuple[FloatArray, FloatArray]:
    rng = np.random.default_rng(seed)
    quality = rng.normal(size=(documents, systems))
    return quality, quality + rng.normal(size=(documents, systems))


@given(st.lists(st.floats(-1, 1), min_size=10, max_size=100, unique=True))
def test_of_a_mean_it_is_the_t_interval(values: list[float]) -> None:
    found = LeftOut.each(len(values)).mean_interval(np.array(values))
    expected = stats.ttest_1samp(values, 0).confidence_interval()

    if np.std(values) > 1e-6:
        assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=1e-9)


def test_ten_documents_of_three_outputs_are_too_few_and_twenty_are_enough() -> None:
    few, enough = (
        correlation_interval(*made_up(documents, 3), "pearson", "summary", "documents")
        for documents in (10, 20)
    )

    assert "fewer than 60 outputs" in few.reason
    assert enough.low is not None


def test_a_difference_of_two_judges_is_the_paired_t_interval() -> None:
    human, first = made_up(30, 8)
    second = human + np.random.default_rng(5).normal(size=human.shape)
    rows = range(len(human))
    differences = [
        stats.spearmanr(human[row], first[row])[0] - stats.spearmanr(human[row], second[row])[0]
        for row in rows
    ]

    found = difference_interval(human, first, second, "spearman")
    expected = stats.ttest_1samp(differences, 0).confidence_interval()

    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))


@pytest.mark.parametrize("annotators", [2, 3, 5])
def test_one_more_annotator_reaches_what_an_annotator_reaches(annotators: int) -> None:
    """A judge that is just another annotator has 100 % of the ceiling, however many there are."""
    rng = np.random.default_rng(annotators)
    quality = rng.normal(size=(2000, 10))
    everybody = quality + rng.normal(size=(annotators + 1, *quality.shape))
    ratings, judge = everybody[:-1], everybody[-1]

    reached = judge_as_a_rater(ratings, judge).value
    ceiling = human_ceiling(ratings).estimate.value

    assert reached is not None
    assert ceiling is not None
    assert reached / ceiling == pytest.approx(1, abs=0.03)
    against_all = correlations(mean_over_raters(ratings), judge).estimates["spearman"]["summary"]
    assert against_all.value is not None
    # Compared with everybody's mean, its equal looks better than an annotator.
    assert against_all.value / ceiling > {2: 1.08, 3: 1.03, 5: 1.01}[annotators]


@pytest.mark.parametrize(
    ("compared", "low", "high"),
    [(1, 0.400, 0.600), (2, 0.381, 0.592), (30, 0.334, 0.592)],
)
def test_the_interval_of_the_best_judge_goes_lower_the_more_it_was_chosen_from(
    compared: int, low: float, high: float
) -> None:
    found = interval_of_the_best(0.5, Interval(0.4, 0.6), compared, 100)

    assert found.ends == pytest.approx((low, high), abs=0.001)
