"""What the alternative annotator test takes, and where a judge passes it."""

import numpy as np
import pytest
from scipy.optimize import brentq

from geval.reports.verdicts.analysis import JudgeInput, View, analyse_judge
from geval.statistics.alt_test import AltTest, alt_test, raters_that_agree
from geval.statistics.arrays import Outputs, Ratings
from geval.statistics.scales import Scale
from geval.statistics.significance import benjamini_yekutieli
from geval.statistics.types import Estimate
from tests.thresholds.three_points import pins

RNG = np.random.default_rng(7)


def result_of(table: np.ndarray) -> AltTest:
    """The test of a report: of a judge that gives the mean rating."""
    count = table.shape[1]
    outputs = Outputs.full(count // 2, 2)
    ratings = Ratings.of_table(table)
    nobody = np.zeros(2, bool)
    human = ratings.means()
    words = np.arange(count, dtype=float)
    judged = JudgeInput(outputs, human, ratings, human, words, nobody, nobody, Scale(1, 5))
    return analyse_judge(judged, View()).alt_test


def people(raters: int, outputs: int) -> np.ndarray:
    quality = RNG.integers(1, 5, outputs)
    return np.array([quality + (RNG.random(outputs) < 0.2) for _ in range(raters)], dtype=float)


@pins("ALT_TEST_OUTPUTS", {29: False, 30: True, 31: True})
def test_outputs_that_each_annotator_shares(value: int, expected: bool) -> None:
    table = people(3, 80)
    table[0, value:] = np.nan

    found = result_of(table)

    assert (found.winning_rate.value is not None) is expected
    assert expected or "3 annotators with 30 outputs each" in found.winning_rate.reason


@pins("ALT_TEST_ANNOTATORS", {2: False, 3: True, 4: True})
def test_annotators_for_a_test(value: int, expected: bool) -> None:
    assert (result_of(people(value, 80)).winning_rate.value is not None) is expected


@pins("ALT_TEST_WINNING_RATE", {0.49: False, 0.5: True, 0.51: True})
def test_half_of_the_annotators_are_enough(value: float, expected: bool) -> None:
    found = AltTest(0.2, Estimate(value), Estimate(0.5), (), (), 100)

    assert found.passes is expected


@pins("ALT_TEST_ERROR", {0.049: True, 0.05: True, 0.051: False})
def test_a_win_is_one_at_five_percent(value: float, expected: bool) -> None:
    table = people(4, 60)
    ratings, judge = Ratings.of_table(table[:3]), table[3]

    def largest_p(epsilon: float) -> float:
        return max(benjamini_yekutieli(alt_test(ratings, judge, epsilon=epsilon).p))

    # The margin at which the largest p, adjusted over all annotators, is the value.
    epsilon = brentq(lambda margin: largest_p(margin) - value * (1 - 1e-9), -0.5, 0.9, xtol=1e-14)
    found = alt_test(ratings, judge, epsilon=epsilon)

    assert largest_p(epsilon) == pytest.approx(value)
    assert (found.winning_rate.value == 1.0) is expected


@pins("ALT_TEST_EPSILON", {0.19: True, 0.2: False, 0.21: False})
def test_a_judge_has_to_stay_below_epsilon(value: float, expected: bool) -> None:
    # In each document 100 outputs; the judge is off on a share of them, so nothing varies.
    lost = np.arange(100) < round(100 * value)
    table = np.full((3, 300), 3.0)
    judge = np.where(np.tile(lost, 3), 5.0, 3.0)

    found = alt_test(Ratings.of_table(table), judge, documents=np.repeat(np.arange(3), 100))

    assert found.passes is expected


@pytest.mark.parametrize(("shared", "agrees"), [(29, True), (30, False), (31, False)])
def test_of_a_rater_with_fewer_outputs_it_is_not_said_that_they_disagree(
    shared: int, agrees: bool
) -> None:
    table = people(3, 80)
    table[2] = np.nan
    table[2, :shared] = 6 - table[0, :shared]

    assert raters_that_agree(Ratings.of_table(table), np.arange(80) // 2)[2] == agrees
