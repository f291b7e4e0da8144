"""What a look at locked documents says, and how many documents prove how much."""

import numpy as np
import pytest
from scipy import stats

from geval.statistics.arrays import Outputs
from geval.statistics.held_out_test import (
    Proof,
    ProofOutcome,
    confidence_of,
    documents_for,
    gain_in_distance,
    gain_in_rank,
    smallest_gain,
)
from geval.statistics.resampling import Interval
from geval.statistics.types import Estimate


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
    assert found.outcome == ProofOutcome.PROVEN
    assert found.documents == 40


def test_scores_nearer_to_peoples_are_a_gain_in_distance():
    outputs, human, _, _ = judges(4)
    rng = np.random.default_rng(1)
    today, mapped = human - 1 + rng.normal(0, 0.2, human.shape), human - 0.2
    found = gain_in_distance(outputs, human, mapped, today, confidence=0.95)
    assert found.candidate.value == pytest.approx(0.2)
    assert found.gain.value == pytest.approx(found.today.value - 0.2)
    assert found.outcome == ProofOutcome.PROVEN


def test_what_comes_nearer_than_today_and_not_than_a_constant_is_not_proven():
    outputs, human, _, _ = judges(4)
    rng = np.random.default_rng(1)
    today, mapped = 4 * rng.normal(size=human.shape), 0.3 * rng.normal(size=human.shape)
    found = gain_in_distance(outputs, human, mapped, today, confidence=0.95, constant=0.0)
    assert found.interval.low > 0
    assert found.constant.distance == pytest.approx(np.abs(human).mean())
    assert found.constant.gain == pytest.approx(
        found.constant.distance - np.abs(mapped - human).mean()
    )
    assert not found.constant.is_beaten
    assert found.outcome == ProofOutcome.NOT_PROVEN


def test_what_comes_nearer_than_both_is_proven_and_the_gain_over_the_constant_has_an_interval():
    outputs, human, _, _ = judges(4)
    rng = np.random.default_rng(1)
    today, mapped = human - 1 + rng.normal(0, 0.2, human.shape), 0.8 * human
    found = gain_in_distance(outputs, human, mapped, today, confidence=0.99, constant=0.5)
    gains = (np.abs(0.5 - human) - np.abs(mapped - human)).reshape(40, 6).mean(axis=1)
    expected = stats.ttest_1samp(gains, 0).confidence_interval(0.99)
    assert found.constant.interval.ends == pytest.approx((expected.low, expected.high))
    assert found.constant.value == 0.5
    assert found.outcome == ProofOutcome.PROVEN


@pytest.mark.parametrize(
    ("ends", "outcome"),
    [((-0.1, 0.1), ProofOutcome.NOT_PROVEN), ((0.0, 0.1), ProofOutcome.NOT_PROVEN),
     ((0.01, 0.1), ProofOutcome.PROVEN), ((-0.1, 0.0), ProofOutcome.NOT_PROVEN),
     ((-0.1, -0.01), ProofOutcome.WORSE), ((None, None), ProofOutcome.NOT_PROVEN)],
)  # fmt: skip
def test_an_interval_that_begins_or_ends_at_0_proves_nothing(ends, outcome):
    nothing = Estimate(0.0)
    assert Proof(nothing, nothing, nothing, Interval(*ends), 0.95, 40).outcome == outcome


def test_what_is_further_than_today_is_worse_whatever_the_constant():
    outputs, human, _, _ = judges(4)
    rng = np.random.default_rng(1)
    near, far = human - 0.2 + rng.normal(0, 0.1, human.shape), human - 1.0
    found = gain_in_distance(outputs, human, far, near, confidence=0.95, constant=9.0)
    assert found.constant.is_beaten
    assert found.outcome == ProofOutcome.WORSE


@pytest.mark.parametrize("is_weighted", [False, True])
def test_the_gain_in_distance_has_the_t_interval_of_documents_means(is_weighted):
    rng = np.random.default_rng(8)
    document = np.repeat(np.arange(30), rng.integers(1, 6, 30))
    place = np.arange(len(document)) - np.searchsorted(document, document)
    human, candidate, today = rng.normal(3, 1, (3, len(document)))
    weight = rng.uniform(1, 4, len(document)) if is_weighted else np.ones(len(document))
    outputs = Outputs(document, place, 30, 5).weighted(weight if is_weighted else None)

    found = gain_in_distance(outputs, human, candidate, today, confidence=0.9)

    apart = np.abs(today - human) - np.abs(candidate - human)
    of_document, total = np.array([
        (np.average(apart[document == at], weights=weight[document == at]),
         weight[document == at].sum())
        for at in range(30)
    ]).T  # fmt: skip
    total = total if is_weighted else np.ones(30)
    left_out = np.array(
        [np.average(np.delete(of_document, at), weights=np.delete(total, at)) for at in range(30)]
    )
    error = np.sqrt(29 / 30 * ((left_out - left_out.mean()) ** 2).sum())
    half = stats.t.ppf(0.95, int(total.sum() ** 2 / (total**2).sum()) - 1) * error
    middle = np.average(of_document, weights=total)
    assert found.interval.ends == pytest.approx((middle - half, middle + half))
    assert found.gain.value == pytest.approx(np.average(apart, weights=weight))


def test_outputs_without_a_score_of_both_do_not_count():
    outputs, human, better, worse = judges(6)
    nothing = np.full_like(better, np.nan)
    found = gain_in_rank(outputs, human, nothing, worse, confidence=0.95)
    assert found.outcome == ProofOutcome.NOT_PROVEN
    assert found.gain.value is None
    assert found.gain.reason


@pytest.mark.parametrize(
    ("looks", "criteria", "error"), [(1, 1, 0.05), (5, 1, 0.01), (5, 2, 0.005)]
)
def test_looks_and_criteria_share_an_error_of_five_percent(looks, criteria, error):
    assert confidence_of(looks, criteria) == pytest.approx(1 - error)


@pytest.mark.parametrize(("documents", "counted"), [(0, 1), (1, 1), (2, 2), (3, 3), (40, 40)])
def test_the_smallest_gain_is_by_students_t_of_the_documents(documents, counted):
    freedom = max(counted - 1, 1)
    needed = stats.t.ppf(0.995, freedom) + stats.t.ppf(0.8, freedom)
    found = smallest_gain(0.2, documents, confidence=0.99)
    assert found == pytest.approx(needed * 0.2 / np.sqrt(counted))


@pytest.mark.parametrize("documents", [10, 11, 20, 33, 40])
def test_documents_that_just_prove_a_gain_are_enough(documents):
    gain = smallest_gain(0.2, documents, confidence=0.95)
    assert documents_for(0.2, gain, confidence=0.95) == documents


@pytest.mark.parametrize("gain", [0.02, 0.05, 0.2, 5.0])
def test_so_many_documents_are_enough_and_one_fewer_is_not(gain):
    needed = documents_for(0.2, gain, confidence=0.99)
    assert smallest_gain(0.2, needed, confidence=0.99) <= gain
    assert needed == 10 or smallest_gain(0.2, needed - 1, confidence=0.99) > gain
