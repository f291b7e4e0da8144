"""Confidence sequences: held to the same bets written one by one, and to simulation."""

import math

import numpy as np
import pytest

from geval.statistics.anytime import confidence_sequence


def capital_by_hand(values: list[float], mean: float, *, level: float) -> float:
    """The hedged capital of Waudby-Smith and Ramdas (2024) after all values from 0 to 1, which is
    the larger of two halves."""
    up = down = 0.5
    seen: list[float] = []
    squares = 0.25
    for count, value in enumerate(values, start=1):
        variance = squares / count
        stake = math.sqrt(2 * math.log(2 / level) / (variance * count * math.log(count + 1)))
        up *= 1 + min(stake, 0.5 / mean) * (value - mean)
        down *= 1 - min(stake, 0.5 / (1 - mean)) * (value - mean)
        seen.append(value)
        squares += (value - (0.5 + sum(seen)) / (count + 1)) ** 2
    return max(up, down)


def test_the_ends_are_where_betting_against_the_mean_has_won_twenty_times_the_stake() -> None:
    values = np.random.default_rng(2).beta(6, 3, 80)

    (found,) = confidence_sequence(values, [80], lowest=0, highest=1)

    def won(mean: float) -> bool:
        return capital_by_hand(values.tolist(), mean, level=0.05) >= 20

    assert won(found.low - 0.001)
    assert not won(found.low + 0.003)
    assert not won(found.high - 0.003)
    assert won(found.high + 0.001)


def test_values_that_are_all_the_same_still_leave_room() -> None:
    (found,) = confidence_sequence(np.full(10, 1.0), [10])

    assert found.high == 1.0
    assert found.low < 0.9


def test_equal_weights_change_nothing_and_others_are_bet_on_by_their_share() -> None:
    rng = np.random.default_rng(0)
    values = rng.beta(4, 2, 80)
    plain = confidence_sequence(values, [20, 80], lowest=0, highest=1)
    equal = confidence_sequence(
        values, [20, 80], lowest=0, highest=1, weight=np.full(80, 3.0), largest=3.0
    )
    for one, two in zip(plain, equal, strict=True):
        assert (two.low, two.high) == pytest.approx((one.low, one.high))

    weight = rng.uniform(1, 3, 80)
    (found,) = confidence_sequence(values, [80], lowest=0, highest=1, weight=weight, largest=3.0)
    mean = np.average(values, weights=weight)
    assert found.low < mean < found.high


def test_weighted_sequences_hold_the_mean_of_the_population_at_any_time() -> None:
    rng = np.random.default_rng(0)
    population = rng.beta(1, 3, 500)
    probability = 0.5 + population  # the large ones are drawn more often
    probability /= probability.sum()
    truth, wrong = population.mean(), 0
    for _ in range(60):
        at = rng.choice(500, 150, p=probability)
        ends = confidence_sequence(
            population[at], range(10, 151, 10), lowest=0, highest=1,
            weight=1 / probability[at], largest=float(1 / probability.min()),
        )  # fmt: skip
        wrong += any(not one.low <= truth <= one.high for one in ends)
    assert wrong <= 6
    (unweighted,) = confidence_sequence(
        population[rng.choice(500, 4000, p=probability)], [4000], lowest=0, highest=1
    )
    assert unweighted.low > truth
