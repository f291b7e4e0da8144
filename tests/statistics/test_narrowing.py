"""A correlation as its documents come in."""

import numpy as np
import pytest
from scipy import stats

from geval.statistics.anytime import narrowing

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


def test_documents_that_stand_for_one_leave_room_for_those_that_stand_for_many() -> None:
    """Twenty of two hundred documents stand for a hundred each: before the first of them comes,
    hardly anything is known."""
    values = np.clip(RNG.normal(0.7, 0.1, 20), -1, 1)

    bold = narrowing(values, np.ones(20))[-1].anytime
    careful = narrowing(values, np.ones(20), largest=100.0)[-1].anytime

    assert bold.low > 0
    assert careful.low < -0.8
    assert narrowing(values, largest=1.0) == narrowing(values)
