"""Pass or fail: counts, rates and kappas against worked figures, and intervals that
hold the true value in simulation."""

import numpy as np
import pytest

from geval.statistics.arrays import Outputs
from geval.statistics.pass_fail import PassFail, SystemRate, best_threshold, lead_of, pass_fail
from geval.statistics.scales import Scale
from geval.statistics.shares import wilson

DATA_SETS = 300


def of_pairs(pairs: list[tuple[int, int]], systems: int = 1) -> PassFail:
    """Of (people's, judge's) verdicts."""
    people, judge = np.array(pairs, dtype=float).T
    found = pass_fail(Outputs.full(len(pairs) // systems, systems), people, judge, Scale(0, 1))
    assert found is not None
    return found


# 40 both pass, 10 false pass, 20 false fail, 30 both fail.
KNOWN = [(1, 1)] * 40 + [(0, 1)] * 10 + [(1, 0)] * 20 + [(0, 0)] * 30


def test_a_worked_example() -> None:
    mixed = [KNOWN[index * 37 % 100] for index in range(100)]

    found = of_pairs(mixed)

    assert (found.both_pass, found.false_pass) == (40, 10)
    assert (found.false_fail, found.both_fail) == (20, 30)
    # The class to find is "fail".
    assert found.sensitivity.estimate.value == pytest.approx(30 / 40)
    assert found.specificity.estimate.value == pytest.approx(40 / 60)
    assert found.precision.estimate.value == pytest.approx(30 / 50)
    assert found.accuracy.estimate.value == pytest.approx(70 / 100)
    assert found.balanced.estimate.value == pytest.approx((30 / 40 + 40 / 60) / 2)
    # Agreement 0.70; by chance 0.5 * 0.6 + 0.5 * 0.4 = 0.50.
    assert found.kappa.estimate.value == pytest.approx(0.4)
    # Mean pass rate 0.55: by chance 2 * 0.55 * 0.45 = 0.495.
    assert found.ac1.estimate.value == pytest.approx((0.70 - 0.495) / 0.505)
    # Of 50 that the judge passes 40 are passes, of 50 that it fails 20: people's own rate, as all
    # outputs were rated.
    (system,) = found.systems
    assert (system.judged, system.outputs) == (0.5, 100)
    assert system.corrected.estimate.value == pytest.approx(0.6)


def test_without_clusters_an_interval_is_wilsons() -> None:
    found = of_pairs([KNOWN[index * 37 % 100] for index in range(100)])

    # Wilson (1927), of 40 of 60 and of 30 of 40.
    assert found.specificity.interval.ends == pytest.approx((0.5406, 0.7727), abs=1e-4)
    assert found.sensitivity.interval.ends == pytest.approx((0.5981, 0.8581), abs=1e-4)


def test_outputs_of_a_document_that_are_alike_tell_as_much_as_one() -> None:
    """Ten copies of each output are ten times as many, and tell no more."""
    once, copied = (
        of_pairs(KNOWN),
        of_pairs([pair for pair in KNOWN for _ in range(10)], systems=10),
    )

    assert copied.sensitivity.estimate == once.sensitivity.estimate
    assert copied.sensitivity.effective == pytest.approx(once.sensitivity.effective, rel=0.03)


@pytest.mark.parametrize(
    ("least", "enough"), [(0.5, True), (0.6, False), (0.7, False), (0.75, None), (0.9, None)]
)
def test_how_many_more_labels_show_a_share(least: float, enough: bool | None) -> None:
    share = of_pairs(KNOWN).sensitivity

    more = share.more_for(least, 0.025)

    assert (None if more is None else more == 0) is enough
    if more:
        low, _high = wilson(0.75, 40 + more, np.inf, 0.95)
        before, _high = wilson(0.75, 39 + more, np.inf, 0.95)
        assert before < least <= low


def test_two_judges_of_the_same_outputs_are_compared_by_pairs() -> None:
    rng = np.random.default_rng(3)
    people = rng.integers(0, 2, 600)
    good = np.where(rng.random(600) < 0.9, people, 1 - people)
    poor = np.where(rng.random(600) < 0.6, people, 1 - people)
    first, second = (of_pairs(list(zip(people, judge, strict=True))) for judge in (good, poor))

    lead = lead_of(first, second).ends
    assert lead
    assert 0 < lead[0] < 0.3 < lead[1]
    assert (lead_of(second, first).high or 0) < 0
    assert lead_of(first, first).ends == pytest.approx((0, 0), abs=0.01)


@pytest.mark.parametrize(("systems", "has_interval"), [(1, True), (4, False)])
def test_the_gap_of_pass_rates_has_an_interval_where_the_accuracy_has(
    systems: int, has_interval: bool
) -> None:
    passing = of_pairs([(1, 1), (0, 0), (1, 0), (0, 0), (1, 1)] * 8, systems)

    for share in (passing.accuracy, passing.rate_error):
        assert (share.interval.low is not None) == has_interval
    assert passing.rate_error.interval.reason == passing.accuracy.interval.reason


def rated(fails: float, labels: int, found: float, kept: float, seed: int) -> SystemRate:
    """Of 2,000 judged outputs of one system, some of which people labelled."""
    rng = np.random.default_rng(seed)
    truth = rng.random(2000) >= fails
    judge = np.where(truth, rng.random(2000) < kept, rng.random(2000) >= found)
    people = np.where(np.arange(2000) < labels, truth, np.nan)
    passing = pass_fail(Outputs.full(2000, 1), people, judge.astype(float), Scale(0, 1))
    assert passing is not None
    (rate,) = passing.systems
    return rate


@pytest.mark.parametrize("fails", [0.05, 0.25])
@pytest.mark.parametrize("labels", [40])
@pytest.mark.parametrize(("found", "kept"), [(0.8, 0.95), (0.5, 0.5)])
def test_a_corrected_rate_holds_the_truth_whatever_the_judge(
    fails: float, labels: int, found: float, kept: float
) -> None:
    """Also of a judge of chance, whose verdict is worth nothing."""
    rates = [rated(fails, labels, found, kept, seed) for seed in range(DATA_SETS)]

    ends = [rate.corrected.interval.ends for rate in rates]
    held = [low <= 1 - fails <= high for low, high in filter(None, ends)]
    assert len(held) > 0.95 * DATA_SETS
    assert np.mean(held) >= 0.93 - 3 * np.sqrt(0.93 * 0.07 / DATA_SETS)


def test_as_many_more_labels_halve_the_interval() -> None:
    before = rated(0.25, 200, 0.9, 0.9, 1)
    assert before.more
    after = rated(0.25, 200 + before.more, 0.9, 0.9, 1)

    width = (after.corrected.interval.width or 0) / (before.corrected.interval.width or 1)
    assert width == pytest.approx(0.5, abs=0.05)


def test_a_judge_that_errs_otherwise_on_a_system_is_corrected_there() -> None:
    # The judge passes all outputs of the second system, and is mostly right about the first.
    first = [KNOWN[index * 37 % 100] for index in range(100)]
    pairs = [pair for one in first for pair in (one, (one[0], 1))]

    usual, other = of_pairs(pairs, systems=2).systems

    assert usual.corrected.estimate.value == pytest.approx(0.6)
    assert other.judged == 1
    assert other.corrected.estimate.value == pytest.approx(0.6)


def test_a_threshold_is_where_sensitivity_and_specificity_are_greatest() -> None:
    scores = np.array([0.1, 0.2, 0.3, 0.6, 0.7, 0.9])
    people = np.array([0, 0, 1, 1, 1, 1], dtype=bool)

    assert best_threshold(people, scores) == pytest.approx(0.25)
    assert best_threshold(~people, scores) in (0.15, 0.25, 0.45, 0.65, 0.8)
    assert best_threshold(people, np.ones(6)) == 1


def test_the_verdict_on_a_document_does_not_depend_on_its_own_ratings() -> None:
    rng = np.random.default_rng(1)
    scores = rng.random(2000)
    people = rng.integers(0, 2, 2000).astype(float)

    found = pass_fail(Outputs.full(500, 4), people, scores, Scale(0, 1))

    # A threshold chosen on the same outputs would always look better than chance.
    assert found is not None
    agreed = (found.both_pass + found.both_fail) / found.outputs
    assert abs(agreed - 0.5) < 0.04
