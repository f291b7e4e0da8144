"""What one rater reaches at each level, and a judge in each rater's place."""

import numpy as np
import pytest
from scipy import stats

from geval.statistics.agreement import (
    human_ceiling,
    judge_as_a_rater,
    rater_at,
)
from geval.statistics.arrays import Outputs, Ratings
from geval.statistics.correlation import COEFFICIENTS
from geval.statistics.jackknife import LeftOut

RNG = np.random.default_rng(5)
# Three raters of twelve documents by five systems.
TABLES = np.round(RNG.normal(3, 1, (12, 5)) + RNG.normal(0, 0.7, (3, 12, 5)), 1)
OUTPUTS, RATINGS = Outputs.full(12, 5), Ratings.of_table(TABLES.reshape(3, 60))
JUDGE = TABLES.mean(axis=0) + RNG.normal(0, 0.5, (12, 5))
OTHERS = [np.delete(TABLES, rater, axis=0).mean(axis=0).round(10) for rater in range(3)]


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_at_summary_level_it_is_the_human_ceiling(coefficient: str) -> None:
    documents = LeftOut.each(12)

    assert (
        rater_at(OUTPUTS, RATINGS, coefficient, "summary")
        == human_ceiling(OUTPUTS, RATINGS, coefficient, documents).estimate
    )
    assert judge_as_a_rater(
        OUTPUTS, RATINGS, JUDGE.ravel(), coefficient, "summary"
    ) == judge_as_a_rater(OUTPUTS, RATINGS, JUDGE.ravel(), coefficient)


def test_at_dataset_level_all_outputs_count_at_once() -> None:
    raters = [stats.spearmanr(TABLES[at].ravel(), OTHERS[at].ravel()).statistic for at in range(3)]
    judge = [stats.spearmanr(JUDGE.ravel(), OTHERS[at].ravel()).statistic for at in range(3)]

    found = rater_at(OUTPUTS, RATINGS, "spearman", "dataset")
    in_place = judge_as_a_rater(OUTPUTS, RATINGS, JUDGE.ravel(), "spearman", "dataset")

    assert found.value == pytest.approx(np.mean(raters))
    assert in_place.value == pytest.approx(np.mean(judge))


def test_at_system_level_means_of_systems_are_compared() -> None:
    raters = [
        stats.pearsonr(TABLES[at].mean(axis=0), OTHERS[at].mean(axis=0)).statistic
        for at in range(3)
    ]

    found = rater_at(OUTPUTS, RATINGS, "pearson", "system")

    assert found.value == pytest.approx(np.mean(raters))


def test_at_session_level_the_turns_of_a_system_are_averaged_first() -> None:
    sessions = Outputs(OUTPUTS.document, np.tile([0, 0, 1, 1, 2], 12), 12, 3)
    sides = [
        [np.stack([s[:, :2].mean(1), s[:, 2:4].mean(1), s[:, 4]]).ravel() for s in pair]
        for pair in zip(TABLES, OTHERS, strict=True)
    ]
    expected = [stats.pearsonr(own.round(10), rest.round(10)).statistic for own, rest in sides]

    assert rater_at(sessions, RATINGS, "pearson", "session").value == pytest.approx(
        np.mean(expected)
    )
    assert rater_at(sessions, RATINGS, "pearson", "dataset") == rater_at(
        OUTPUTS, RATINGS, "pearson", "dataset"
    )
