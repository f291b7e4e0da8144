"""A correlation as its documents come in."""

import numpy as np
import pytest
from scipy import stats

from evaluations.statistics.narrowing import narrowing

RNG = np.random.default_rng(5)


def test_each_step_is_the_mean_of_the_first_documents_with_students_interval() -> None:
    values = RNG.normal(0.4, 0.2, 60)
    values[[3, 20]] = np.nan
    known = values[~np.isnan(values)]

    steps = narrowing(values, most=8)

    assert steps[0].documents == 10
    assert steps[-1].documents == 58
    for step in steps:
        first = known[: step.documents]
        half = stats.t.ppf(0.975, len(first) - 1) * stats.sem(first)
        assert step.value == pytest.approx(first.mean())
        assert (step.low, step.high) == pytest.approx((step.value - half, step.value + half))


def test_fewer_than_ten_documents_give_no_step() -> None:
    assert narrowing(np.append(RNG.normal(size=9), [np.nan] * 5)) == ()


def test_the_band_stays_within_what_a_correlation_can_be() -> None:
    steps = narrowing(np.append(np.full(9, 1.0), 0.2))

    assert steps[0].high == 1.0
