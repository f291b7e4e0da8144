"""What a look at locked documents says, and how many documents prove how much."""

import numpy as np
import pytest
from scipy import stats

from evaluations.statistics.layout import Outputs
from evaluations.statistics.proof import (
    Outcome,
    confidence_of,
    documents_for,
    gain_in_distance,
    gain_in_rank,
    smallest_gain,
)


def judges(seed, *, documents=40, systems=6, noise=(0.5, 1.0)):
    rng = np.random.default_rng(seed)
    quality = rng.normal(size=(documents, systems)).ravel()
    human = quality + rng.normal(0, 0.3, quality.shape)
    sides = [quality + rng.normal(0, sd, quality.shape) for sd in noise]
    return Outputs.full(documents, systems), human, *sides


def test_the_gain_in_rank_has_the_paired_t_interval_over_documents():
    outputs, human, better, worse = judges(1, noise=(0.3, 1.5))
    tables = [side.reshape(40, 6) for side in (human, better, worse)]
    rho = np.array(
        [
            [stats.spearmanr(h, s).statistic for h, s in zip(tables[0], side, strict=True)]
            for side in tables[1:]
        ]
    )
    expected = stats.ttest_rel(*rho).confidence_interval(0.99)
    found = gain_in_rank(outputs, human, better, worse, confidence=0.99)
    assert found.gain.value == pytest.approx(rho[0].mean() - rho[1].mean())
    assert found.interval.ends == pytest.approx((expected.low, expected.high))
    assert found.outcome == Outcome.PROVEN
    assert found.documents == 40


def test_a_judge_that_is_surely_worse_is_said_to_be_worse():
    outputs, human, better, worse = judges(2)
    assert gain_in_rank(outputs, human, worse, better, confidence=0.99).outcome == Outcome.WORSE


def test_the_same_judge_proves_nothing():
    outputs, human, better, _ = judges(3)
    found = gain_in_rank(outputs, human, better, better, confidence=0.99)
    assert found.outcome == Outcome.NOT_PROVEN
    assert found.gain.value == 0


def test_scores_nearer_to_peoples_are_a_gain_in_distance():
    outputs, human, _, _ = judges(4)
    rng = np.random.default_rng(1)
    today, mapped = human - 1 + rng.normal(0, 0.2, human.shape), human - 0.2
    found = gain_in_distance(outputs, human, mapped, today, confidence=0.95)
    assert found.candidate.value == pytest.approx(0.2)
    assert found.gain.value == pytest.approx(found.today.value - 0.2)
    assert found.outcome == Outcome.PROVEN


def test_too_few_locked_documents_prove_nothing_and_say_why():
    outputs, human, better, worse = judges(5, documents=9)
    found = gain_in_rank(outputs, human, better, worse, confidence=0.95)
    assert found.outcome == Outcome.NOT_PROVEN
    assert "too few" in found.interval.reason


def test_outputs_without_a_score_of_both_do_not_count():
    outputs, human, better, worse = judges(6)
    nothing = np.full_like(better, np.nan)
    found = gain_in_rank(outputs, human, nothing, worse, confidence=0.95)
    assert found.outcome == Outcome.NOT_PROVEN
    assert found.gain.value is None
    assert found.gain.reason


@pytest.mark.parametrize(
    ("looks", "criteria", "error"), [(1, 1, 0.05), (5, 1, 0.01), (5, 2, 0.005)]
)
def test_looks_and_criteria_share_an_error_of_five_percent(looks, criteria, error):
    assert confidence_of(looks, criteria) == pytest.approx(1 - error)


def test_the_smallest_gain_is_proven_in_about_four_of_five_tries():
    gain = smallest_gain(0.2, 40, confidence=0.99)
    rng = np.random.default_rng(7)
    tries = rng.normal(gain, 0.2, (4000, 40))
    low = tries.mean(axis=1) - stats.t.ppf(0.995, 39) * tries.std(axis=1, ddof=1) / np.sqrt(40)
    assert (low > 0).mean() == pytest.approx(0.8, abs=0.03)


@pytest.mark.parametrize("gain", [0.02, 0.05, 0.2, 5.0])
def test_so_many_documents_are_enough_and_one_fewer_is_not(gain):
    needed = documents_for(0.2, gain, confidence=0.99)
    assert smallest_gain(0.2, needed, confidence=0.99) <= gain
    assert needed == 10 or smallest_gain(0.2, needed - 1, confidence=0.99) > gain


def test_equal_judges_are_told_apart_in_at_most_six_percent():
    told = 0
    for seed in range(200):
        outputs, human, first, second = judges(seed, documents=20, noise=(0.8, 0.8))
        found = gain_in_rank(outputs, human, first, second, confidence=0.95)
        told += found.outcome != Outcome.NOT_PROVEN
    assert told / 200 < 0.06 + 2 * np.sqrt(0.05 * 0.95 / 200)
