"""What each number of a judge takes: without people's noise, pass rates, steadiness, probes,
prediction-powered means."""

import numpy as np
import pytest
from scipy.optimize import brentq

from geval.reports.instructed import Instructed
from geval.statistics.arrays import Outputs, Ratings
from geval.statistics.attenuation import disattenuated
from geval.statistics.jackknife import LeftOut
from geval.statistics.pass_fail import pass_fail
from geval.statistics.ppi import PpiTable, ppi_table
from geval.statistics.repeatability import repeatability
from geval.statistics.scales import Scale
from geval.statistics.sensitivity import NOISE, SPREAD, Finding, sensitivity
from tests.thresholds.three_points import pins

RNG = np.random.default_rng(8)


def two_raters(outputs: int, noise: float = 0.5) -> tuple[np.ndarray, np.ndarray]:
    """Two people's ratings, shape (2, outputs), and a judge's scores."""
    quality = RNG.normal(size=outputs)
    return quality + RNG.normal(0, noise, (2, outputs)), quality + RNG.normal(0, 0.5, outputs)


@pins("NOISE_OUTPUTS", {29: False, 30: True, 31: True})
def test_outputs_with_two_ratings_for_r_without_noise(value: int, expected: bool) -> None:
    table, judge = two_raters(60)
    table[1, value:] = np.nan

    found = disattenuated(
        Outputs.full(60, 1), Ratings.of_table(table), judge, LeftOut.each(60)
    ).estimate

    assert (found.value is not None) is expected


@pins("NOISE_DOCUMENTS", {99: False, 100: True, 101: True})
def test_documents_for_its_interval(value: int, expected: bool) -> None:
    table, judge = two_raters(value * 3)

    found = disattenuated(
        Outputs.full(value, 3), Ratings.of_table(table), judge, LeftOut.each(value)
    )

    assert found.estimate.value is not None
    assert (found.interval.ends is not None) is expected


@pins("NOISE_RELIABILITY", {0.249: False, 0.25: True, 0.251: True})
def test_a_mean_rating_that_is_mostly_noise_is_not_corrected_for(
    value: float, expected: bool
) -> None:
    quality, noise = RNG.normal(size=(2, 80))
    judge = quality + RNG.normal(size=80)
    outputs, documents = Outputs.full(80, 1), LeftOut.each(80)

    def reliability(size: float) -> float:
        table = np.array([quality + size * noise, quality - size * noise])
        found = disattenuated(outputs, Ratings.of_table(table), judge, documents)
        return found.reliability.value or 0.0

    # The noise at which the reliability is the value, and not a hair below it.
    size = brentq(lambda size: reliability(size) - value * (1 + 1e-9), 0.01, 3.0, xtol=1e-14)
    table = np.array([quality + size * noise, quality - size * noise])
    found = disattenuated(outputs, Ratings.of_table(table), judge, documents)

    assert found.reliability.value == pytest.approx(value)
    assert (found.estimate.value is not None) is expected


def verdicts(passed: int, failed: int, wrong: int = 0) -> np.ndarray:
    """People's verdicts and the judge's, of so many outputs that people pass and fail; shape (2,
    outputs), in mixed order."""
    people = np.repeat([1.0, 0.0], [passed, failed])
    judge = people.copy()
    judge[:wrong] = 0
    judge[len(judge) - wrong :] = 1
    return np.array([people, judge])[:, RNG.permutation(passed + failed)]


@pins("PASS_FAIL_OUTPUTS", {9: False, 10: True, 11: True})
@pytest.mark.parametrize("rare", ["passed", "failed"])
def test_outputs_of_each_kind_for_pass_rates(value: int, expected: bool, rare: str) -> None:
    people, judge = verdicts(value, 40) if rare == "passed" else verdicts(40, value)

    found = pass_fail(Outputs.full(len(people), 1), people, judge, Scale(0, 1))

    assert found
    assert (found.sensitivity.estimate.value is not None) is expected
    assert expected or "10 outputs" in found.sensitivity.estimate.reason


@pins("PASS_FAIL_DOCUMENTS", {19: False, 20: True, 21: True})
def test_documents_with_several_outputs_for_an_interval(value: int, expected: bool) -> None:
    people, judge = verdicts(2 * value, 2 * value, wrong=2)
    # Two passes and two fails in each document.
    order = np.argsort(np.tile(np.arange(value), 4), kind="stable")

    passing = pass_fail(Outputs.full(value, 4), people[order], judge[order], Scale(0, 1))

    assert passing
    assert (passing.accuracy.interval.low is not None) is expected


@pins("REPLIES_ITEMS", {19: False, 20: True, 21: True})
def test_items_with_two_replies_for_steadiness(value: int, expected: bool) -> None:
    replies = RNG.normal(size=(2, 30))
    replies[1, value:] = np.nan
    human = RNG.normal(size=30)

    found = repeatability(Ratings.of_table(replies), Outputs.full(30, 1), human)

    assert (found.icc.value is not None) is expected
    assert (found.pearson.value is not None) is expected


@pins("INTERVAL_DOCUMENTS", {9: False, 10: True, 11: True})
def test_documents_for_the_effect_of_a_probe(value: int, expected: bool) -> None:
    unchanged = RNG.normal(size=(value * 2, 2))
    changed = {"longer": unchanged[:, 0] + RNG.normal(size=value * 2)}

    found = sensitivity(Outputs.full(value, 2), unchanged, changed)[0]

    assert (found.value is not None) is expected


@pins("PROBE_SPREAD", {0.79: True, 0.8: True, 0.81: False})
def test_a_judge_that_spreads_less_than_people_uses_too_little_of_the_scale(
    value: float, expected: bool
) -> None:
    human = np.tile([1.0, 5.0], 20)
    scores = 3 + (human - 3) * value

    found = sensitivity(Outputs.full(20, 2), np.column_stack([scores, scores]), {}, human)

    (spread,) = (one for one in found if one.name == SPREAD)
    # The same in every document, so that the value itself decides; 0.8 is 0.8 but for rounding.
    assert spread.value == pytest.approx(value)
    assert value == 0.8 or spread.is_found is expected


@pins("PROBE_RELIABILITY", {0.49: 0.5, 0.5: 0.5, 0.51: 0.5})
def test_a_noisy_judge_is_one_whose_reliability_is_below_half(
    value: float, expected: float
) -> None:
    quality, noise = RNG.normal(size=(2, 400))
    noise -= quality * (quality @ noise) / (quality @ quality)

    def found(size: float) -> tuple[float, float]:
        unchanged = np.column_stack([quality + size * noise, quality - size * noise])
        (one,) = (
            one for one in sensitivity(Outputs.full(400, 1), unchanged, {}) if one.name == NOISE
        )
        assert one.value is not None
        assert one.p is not None
        return one.value, one.p

    size = brentq(lambda size: found(size)[0] - value, 0.1, 5.0)

    # p is one half where the value is what it is tested against.
    assert (found(size)[1] < 0.5 - 1e-6) is (value < expected)
    assert (found(size)[1] > 0.5 + 1e-6) is (value > expected)


@pins("PPI_RATINGS", {29: False, 30: True, 31: True})
def test_ratings_of_a_system_for_a_prediction_powered_interval(value: int, expected: bool) -> None:
    judge = RNG.normal(size=80)
    human = np.where(np.arange(80) < value, judge + RNG.normal(size=80), np.nan)

    mean = ppi_table(Outputs.full(80, 1), human, judge).systems[0].mean

    assert mean
    assert (mean.low is not None) is expected


@pins("PPI_RANDOM", {0.0099: False, 0.01: True, 0.0101: True})
def test_rated_outputs_that_the_judge_scores_otherwise_are_no_random_sample(
    value: float, expected: bool
) -> None:
    assert PpiTable((), value).is_random is expected


@pins("PROBED_SHARE", {0.89: False, 0.9: True, 0.91: True})
def test_probes_speak_of_a_judge_when_nearly_all_outputs_have_scores(
    value: float, expected: bool
) -> None:
    finding = Finding("instructed", outputs=round(100 * value), documents=50, value=0.1)

    assert Instructed(finding, asked=100).is_whole is expected
