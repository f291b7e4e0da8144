"""Evidence of drift: right by hand, rarely false however often it is looked at, soon there."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from geval.statistics.drift import AT_ONCE, SLOPES, SPREADS, STARTS, drift
from geval.statistics.thresholds import SIGNIFICANCE
from geval.statistics.types import FloatArray


def judge(
    rng: np.random.Generator, items: int, askings: int, *, moved: float = 0.0, at: int = 0
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Five frozen scores, later ones, and ratings, on a scale from 1 to 5; a third of the variance
    of scores is noise."""
    quality = rng.normal(size=(items, 1)) * np.sqrt(2 / 3)
    scores = quality + rng.normal(size=(items, 5 + askings)) * np.sqrt(1 / 3)
    scores[:, 5 + at :] += moved
    rounded = np.clip(np.round(3 + scores), 1, 5)
    people = 3 + quality[:, 0] + rng.normal(size=items) * 0.5
    return rounded[:, :5], rounded[:, 5:], people


def test_the_first_asking_by_hand() -> None:
    """One frozen score, and a higher one: its rank is in the upper half, [1/2, 1], so 2p - 1 is 1/2
    on average and its square is 1/3."""
    found = drift(np.array([[1.0]]), np.array([[2.0]]))

    bets = [1 + sign * slope / 2 for slope in SLOPES for sign in (1, -1)] + [1.0 for _ in SPREADS]
    awake = AT_ONCE + STARTS * (1 - AT_ONCE)
    each = [awake * bet + (1 - AT_ONCE) * (1 - STARTS) for bet in bets]
    assert_allclose(found.scores, [np.mean(each)])
    assert found.bound == 1 / SIGNIFICANCE
    assert found.agreement.tolist() == [1.0]


def test_bets_are_fair_on_every_pattern_of_ties() -> None:
    """Each of the six orders of scores 1, 2, 2 is as likely; the mean of capital is 1."""
    orders = [(1, 2, 2), (2, 1, 2), (2, 2, 1)]
    capital = [drift(np.array([[a]]), np.array([[b, c]], dtype=float)).scores for a, b, c in orders]

    assert_allclose(np.mean(capital, axis=0), [1.0, 1.0])


def test_a_judge_that_always_says_the_same_is_no_evidence() -> None:
    found = drift(np.full((40, 5), 3.0), np.full((40, 365), 3.0), np.full(40, 3.0))

    assert_allclose(found.scores, 1.0)
    assert_allclose(found.agreement, 1.0)


def test_missing_scores_say_nothing() -> None:
    frozen, asked, _people = judge(np.random.default_rng(1), 30, 3)
    holes = np.vstack([asked, np.full((5, 3), np.nan)])
    none = np.full((5, 5), np.nan)

    assert_allclose(drift(np.vstack([frozen, none]), holes).scores, drift(frozen, asked).scores)


def test_ratings_halve_the_level_of_either_test() -> None:
    frozen, asked, people = judge(np.random.default_rng(1), 30, 3)

    assert drift(frozen, asked, people).bound == 2 / SIGNIFICANCE
    assert drift(frozen, asked, np.full(30, np.nan)).bound == 1 / SIGNIFICANCE


def test_scores_that_move_away_from_people_are_found() -> None:
    rng = np.random.default_rng(2)
    frozen, asked, people = judge(rng, 40, 6)
    asked[:, :] = rng.permuted(asked, axis=0)  # as many of each, of other outputs

    found = drift(frozen, asked, people)

    assert found.agreement_at is not None


@pytest.mark.parametrize("at", [0, 100])
def test_half_a_standard_deviation_is_found_within_a_hundred_scores(at: int) -> None:
    rng, found = np.random.default_rng(3), []
    for _ in range(40):
        frozen, asked, people = judge(rng, 25, at + 4, moved=0.5, at=at)
        evidence = drift(frozen, asked, people)
        found.append(any(one is not None for one in (evidence.scores_at, evidence.agreement_at)))

    assert np.mean(found) >= 0.85


@pytest.mark.slow
def test_a_year_of_daily_looks_rarely_alarms() -> None:
    rng, alarms, years = np.random.default_rng(4), 0, 200
    for _ in range(years):
        evidence = drift(*judge(rng, 20, 365))
        alarms += evidence.scores_at is not None or evidence.agreement_at is not None

    assert alarms <= stats.binom.ppf(0.99, years, SIGNIFICANCE)
