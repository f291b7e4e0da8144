"""Errors, calibration and biases of outputs that stand for different numbers of
others are those of a population in which each occurs as often; intervals leave out documents."""

import itertools
from collections.abc import Callable
from dataclasses import astuple
from typing import Any

import numpy as np
import pytest
from scipy import stats

from geval.statistics.anytime import narrowing
from geval.statistics.arrays import Outputs, Ratings
from geval.statistics.attenuation import disattenuated
from geval.statistics.bias import family_bias, length_bias, writer_bias
from geval.statistics.calibration import (
    cross_validated_error,
    equipercentile,
    isotonic,
    reliability_intervals,
)
from geval.statistics.held_out_test import gain_in_distance, gain_in_rank
from geval.statistics.jackknife import LeftOut, counting_by
from geval.statistics.mean_gaps import mean_gap
from geval.statistics.types import FloatArray
from geval.statistics.weighted import kish

DOCUMENTS, SYSTEMS = 30, 4
OUTPUTS = Outputs.full(DOCUMENTS, SYSTEMS)
BY_HUMAN, BY_LLM = np.array([True, False, False, False]), np.array([False, True, True, False])


def chance(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


class Sample:
    """Ratings, scores and lengths of 120 outputs, with whole weights by output or by document."""

    def __init__(self, seed: int, *, whole_documents: bool) -> None:
        rng = chance(seed)
        self.human = rng.integers(3, 16, 120) / 3
        self.judge = np.round(self.human + rng.normal(0.3, 1, 120), 0 if seed % 2 else 1)
        self.words = np.round(50 + 8 * self.judge + rng.normal(0, 10, 120))
        counts = rng.integers(1, 6, DOCUMENTS if whole_documents else 120)
        self.counts = np.repeat(counts, SYSTEMS) if whole_documents else counts
        self.weight = self.counts.astype(float)
        self.outputs = OUTPUTS.weighted(self.weight)

    def repeated(self, *values: FloatArray) -> tuple[Outputs, list[FloatArray]]:
        """Each output as often as it stands for, in its document."""
        at = np.repeat(np.arange(120), self.counts)
        outputs = Outputs(OUTPUTS.document[at], OUTPUTS.system[at], DOCUMENTS, SYSTEMS)
        return outputs, [side[at] for side in values]


@pytest.fixture(params=itertools.product(range(3), (False, True)))
def sample(request: pytest.FixtureRequest) -> Sample:
    seed, whole_documents = request.param
    return Sample(seed, whole_documents=whole_documents)


@pytest.fixture(params=range(3))
def of_documents(request: pytest.FixtureRequest) -> Sample:
    return Sample(request.param, whole_documents=True)


def interval_by_hand(
    sample: Sample, statistic: Callable[[np.ndarray], float], counting: int | None = None
) -> tuple[float, float]:
    """Student's t with a statistic computed anew without each document.

    Args:
        statistic: of a mask of outputs.
    """
    value = statistic(np.ones(120, dtype=bool))
    left_out = np.array([statistic(OUTPUTS.document != at) for at in range(DOCUMENTS)])
    error = np.sqrt((DOCUMENTS - 1) / DOCUMENTS * ((left_out - left_out.mean()) ** 2).sum())
    if counting is None:
        counting = int(kish(sample.weight.reshape(DOCUMENTS, SYSTEMS).mean(axis=1)))
    half = stats.t.ppf(0.975, counting - 1) * error
    return float(value - half), float(value + half)


def test_maps_are_those_of_repeated_outputs(sample: Sample) -> None:
    _, (judge, human) = sample.repeated(sample.judge, sample.human)

    for fit in (isotonic, equipercentile):
        found = fit(sample.judge, sample.human, sample.weight)
        expected = fit(judge, human)
        np.testing.assert_array_equal(found.x, expected.x)
        np.testing.assert_allclose(found.fit, expected.fit)


def test_errors_before_and_after_calibration_are_those_of_repeated_outputs(sample: Sample) -> None:
    outputs, (human, judge) = sample.repeated(sample.human, sample.judge)

    found = cross_validated_error(sample.outputs, sample.human, sample.judge, rng=chance())

    expected = cross_validated_error(outputs, human, judge, rng=chance())
    assert found
    assert expected
    assert astuple(found) == pytest.approx(astuple(expected))
    assert found.before == pytest.approx(
        np.average(np.abs(sample.judge - sample.human), weights=sample.weight)
    )


def test_groups_of_similar_scores_have_weighted_means_with_intervals(sample: Sample) -> None:
    found = reliability_intervals(sample.outputs, sample.judge, sample.human, bins=3)

    plain = reliability_intervals(OUTPUTS, sample.judge, sample.human, bins=3)
    edges = np.unique(np.quantile(sample.judge, np.linspace(0, 1, 4)))
    place = np.clip(np.searchsorted(edges, sample.judge, side="right") - 1, 0, len(edges) - 2)
    for at, (one, interval), (without, _) in zip(np.unique(place), found, plain, strict=True):
        inside = place == at
        weight = sample.weight[inside]
        assert one.outputs == without.outputs == inside.sum()
        assert one.rating == pytest.approx(np.average(sample.human[inside], weights=weight))
        assert one.score == pytest.approx(np.average(sample.judge[inside], weights=weight))
        groups = np.unique(OUTPUTS.document[inside])
        own, values, document = weight, sample.human[inside], OUTPUTS.document[inside]
        left_out = [
            np.average(values[document != one], weights=own[document != one]) for one in groups
        ]
        of_groups = np.array([own[document == one].mean() for one in groups])
        error = np.sqrt((len(groups) - 1) * np.var(left_out))
        half = stats.t.ppf(0.975, int(kish(of_groups)) - 1) * error
        assert interval.ends == pytest.approx((one.rating - half, one.rating + half))


def test_mean_gaps_are_weighted_and_leave_out_documents(sample: Sample) -> None:
    gaps = sample.judge - sample.human

    found = mean_gap(sample.outputs, gaps)

    def by_hand(kept: np.ndarray) -> float:
        return float(np.average(gaps[kept], weights=sample.weight[kept]))

    assert found.mean == pytest.approx(by_hand(np.ones(120, dtype=bool)))
    assert found.interval.ends == pytest.approx(interval_by_hand(sample, by_hand))
    assert found.outputs == 120


def partial_by_hand(judge: FloatArray, words: FloatArray, human: FloatArray) -> float:
    """What is left of two sides' ranks after a line through the third's."""
    ranks = [stats.rankdata(side) for side in (judge, words, human)]
    line = np.column_stack([np.ones(len(judge)), ranks[2]])
    left = [side - line @ np.linalg.lstsq(line, side, rcond=None)[0] for side in ranks[:2]]
    return float(stats.pearsonr(*left).statistic)


def test_length_bias_is_that_of_repeated_outputs(sample: Sample) -> None:
    _, (human, judge, words) = sample.repeated(sample.human, sample.judge, sample.words)

    found = length_bias(
        sample.outputs, sample.human, sample.judge, sample.words, LeftOut.each(DOCUMENTS)
    )

    assert found.partial.value == pytest.approx(partial_by_hand(judge, words, human))
    low, high = found.interval.ends or (np.nan, np.nan)
    assert low < (found.partial.value or 0) < high


def test_the_bias_for_the_own_family_is_weighted_least_squares(sample: Sample) -> None:
    own = np.array([True, False, False, False])
    mine = own[OUTPUTS.system].astype(float)

    found = family_bias(
        sample.outputs, sample.human, sample.judge, own, ~own, LeftOut.each(DOCUMENTS)
    )

    def by_hand(kept: np.ndarray) -> float:
        at = np.repeat(np.flatnonzero(kept), sample.counts[kept])
        design = np.column_stack([np.ones(len(at)), sample.human[at], mine[at]])
        return float(np.linalg.lstsq(design, sample.judge[at], rcond=None)[0][2])

    everything = np.ones(120, dtype=bool)
    assert found.partial.value == pytest.approx(by_hand(everything))
    assert found.interval.ends == pytest.approx(interval_by_hand(sample, by_hand))


def test_pairs_of_writers_count_by_the_weight_of_the_document_drawn_with_them(
    of_documents: Sample,
) -> None:
    assert_writers(of_documents, lambda a, _b: float(of_documents.weight[a]))


def test_pairs_of_outputs_drawn_one_by_one_count_by_the_product_of_weights() -> None:
    sample = Sample(0, whole_documents=False)
    assert_writers(sample, lambda a, b: float(sample.weight[a] * sample.weight[b]))


def assert_writers(sample: Sample, weight: Callable[[int, int], float]) -> None:
    found = writer_bias(
        sample.outputs, sample.human, sample.judge, BY_HUMAN, BY_LLM, LeftOut.each(DOCUMENTS)
    )
    assert found is not None
    pairs = [(4 * d, 4 * d + system) for d in range(DOCUMENTS) for system in (1, 2)]
    for name, sign in (("human", -1), ("equal", 0), ("llm", 1)):
        mine = [
            (a, b)
            for a, b in pairs
            if np.sign(np.round(sample.human[b] - sample.human[a], 9)) == sign
        ]
        if not mine:
            assert name not in found.groups
            continue
        gaps = [sample.judge[b] - sample.judge[a] for a, b in mine]
        group, _interval = found.groups[name]
        assert group.pairs == len(mine)
        assert group.gap == pytest.approx(np.average(gaps, weights=[weight(*one) for one in mine]))


def test_correlations_without_peoples_noise_are_weighted() -> None:
    rng = chance()
    truth = rng.normal(3, 1, 120)
    table = np.clip(np.round(truth + rng.normal(0, 0.7, (3, 120))), 1, 5)
    judge = truth + rng.normal(0, 0.5, 120)
    weight = rng.uniform(1, 4, 120)
    table[2, ::3] = np.nan  # not everybody rates everything
    documents = LeftOut.each(DOCUMENTS)

    found = disattenuated(OUTPUTS.weighted(weight), Ratings.of_table(table), judge, documents)

    own, count = weight / weight.mean(), (~np.isnan(table)).sum(axis=0)
    mean = np.nanmean(table, axis=0)
    noise = np.average(np.nanvar(table, axis=0) * count / (count - 1), weights=own * (count - 1))
    variance = np.cov(mean, aweights=own, ddof=0) * 120 / 119
    reliability = 1 - noise * np.average(1 / count, weights=own) / variance
    r = np.cov(mean, judge, aweights=own)[0, 1] / np.sqrt(
        np.cov(mean, aweights=own) * np.cov(judge, aweights=own)
    )
    assert found.reliability.value == pytest.approx(reliability)
    assert found.estimate.value == pytest.approx(r / np.sqrt(reliability))


def test_a_band_narrows_to_the_interval_of_the_weighted_mean() -> None:
    rng = chance()
    values, weight = rng.uniform(-0.2, 0.9, 40), rng.uniform(1, 2, 40)
    values[[3, 20]] = np.nan

    steps = narrowing(values, weight)

    known = ~np.isnan(values)
    expected = LeftOut.each(38).mean_interval(values[known], weight=weight[known])
    last = steps[-1]
    assert last.documents == 38
    assert last.value == pytest.approx(np.average(values[known], weights=weight[known]))
    assert (last.low, last.high) == pytest.approx(expected.ends)
    assert last.anytime.low < last.low < last.high < last.anytime.high


def test_gains_on_locked_documents_are_weighted(sample: Sample) -> None:
    better = sample.human + chance().normal(0, 0.5, 120)

    nearer = gain_in_distance(sample.outputs, sample.human, better, sample.judge, confidence=0.95)
    higher = gain_in_rank(sample.outputs, sample.human, better, sample.judge, confidence=0.95)

    distances = [np.abs(side - sample.human) for side in (sample.judge, better)]

    def by_hand(kept: np.ndarray) -> float:
        gains = (distances[0] - distances[1])[kept]
        return float(np.average(gains, weights=sample.weight[kept]))

    assert nearer.gain.value == pytest.approx(by_hand(np.ones(120, dtype=bool)))
    counting = int(kish(OUTPUTS.by_document(sample.weight)))
    assert nearer.interval.ends == pytest.approx(interval_by_hand(sample, by_hand, counting))
    plain = gain_in_rank(OUTPUTS, sample.human, better, sample.judge, confidence=0.95)
    assert higher.gain.value != plain.gain.value
    low, high = higher.interval.ends or (np.nan, np.nan)
    assert low < (higher.gain.value or 0) < high


def all_of(outputs: Outputs, human: FloatArray, judge: FloatArray, words: FloatArray) -> list[Any]:
    """Every statistic that takes weights, on some outputs."""
    documents = LeftOut.each(outputs.documents)
    own = np.arange(outputs.systems) == 0
    known = ~np.isnan(human + judge)
    both = outputs.part(known)
    rated, scored = human[known], judge[known]
    return [
        cross_validated_error(outputs, human, judge, rng=chance()),
        reliability_intervals(outputs, judge, human),
        mean_gap(both, scored - rated) if len(both) else None,
        length_bias(outputs, human, judge, words, documents),
        family_bias(outputs, human, judge, own, ~own, documents),
        writer_bias(outputs, human, judge, own, ~own, documents),
        gain_in_distance(outputs, human, judge, words, confidence=0.95),
        gain_in_rank(outputs, human, judge, words, confidence=0.95),
    ]


def numbers_in(found: Any) -> list[float]:
    """All numbers of nested results, in their order."""
    if isinstance(found, bool | str) or found is None:
        return []
    if isinstance(found, int | float | np.floating):
        return [float(found)]
    if isinstance(found, dict):
        return [one for value in found.values() for one in numbers_in(value)]
    if isinstance(found, list | tuple):
        return [one for value in found for one in numbers_in(value)]
    return numbers_in([getattr(found, name) for name in found.__dataclass_fields__])


@pytest.mark.parametrize("seed", range(3))
def test_equal_weights_change_nothing(seed: int) -> None:
    sample = Sample(seed, whole_documents=False)
    sides = (sample.human, sample.judge, sample.words)

    plain, weighted = (
        numbers_in(all_of(outputs, *sides))
        for outputs in (OUTPUTS, OUTPUTS.weighted(np.full(120, 1.0)))
    )

    assert weighted == pytest.approx(plain)


def test_ten_documents_with_nearly_equal_weights_are_ten() -> None:
    weight = np.full(10, 1 / 0.3)
    weight[3] *= 1 + 1e-12
    assert counting_by(np.ones(10, dtype=bool), weight) == 10
