"""Gwet's AC1 and AC2, held to their definition written with a matrix of weights, and to the
published example of four raters."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats

from geval.statistics.jackknife import LeftOut
from geval.statistics.reliability import Gwet, gwet
from geval.statistics.types import FloatArray
from tests.statistics.tables import rated

NAN = math.nan
RATINGS = hnp.arrays(
    float,
    st.tuples(st.integers(2, 4), st.integers(1, 5), st.integers(1, 4)),
    elements=st.sampled_from([1, 2, 3, 5, NAN]),
)
# Twelve units, four raters, five categories (Gwet, 2014, table 2.5).
FOUR_RATERS = np.array([
    [1, 2, 3, 3, 2, 1, 4, 1, 2, NAN, NAN, NAN],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NAN, 3],
    [NAN, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NAN],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NAN],
])  # fmt: skip


def found_in(ratings: FloatArray) -> Gwet:
    return gwet(*rated(ratings), LeftOut.each(ratings.shape[1]))


def by_definition(units: FloatArray, values: FloatArray, *, is_quadratic: bool) -> float:
    """Units of shape (raters, units), as the handbook's formulas have it, unit by unit."""
    apart = values[:, None] - values[None, :]
    weights = 1 - apart**2 / np.ptp(values) ** 2 if is_quadratic else np.eye(len(values))
    agreeing, common = [], []
    for unit in units.T:
        counts = np.array([(unit == value).sum() for value in values])
        total = counts.sum()
        if total:
            common.append(counts / total)
        if total > 1:
            agreeing.append((counts * (weights @ counts - 1)).sum() / (total * (total - 1)))
    share = np.mean(common, axis=0)
    chance = weights.sum() / (len(values) * (len(values) - 1)) * (share * (1 - share)).sum()
    return float((np.mean(agreeing) - chance) / (1 - chance))


@given(RATINGS)
@settings(max_examples=60)
def test_both_equal_their_definition(ratings: FloatArray) -> None:
    units = ratings.reshape(len(ratings), -1)
    values = np.unique(units[~np.isnan(units)])
    assume(len(values) > 1 and ((~np.isnan(units)).sum(axis=0) > 1).any())

    found = found_in(ratings)

    for one, is_quadratic in ((found.ac1, False), (found.ac2, True)):
        expected = by_definition(units, values, is_quadratic=is_quadratic)
        assert one.estimate.value == pytest.approx(expected, abs=1e-9)


def test_the_example_of_four_raters_is_as_published() -> None:
    found = found_in(FOUR_RATERS[:, :, None])

    assert found.ac1.estimate.value == pytest.approx(0.77544, abs=5e-6)


def test_the_interval_is_the_jackknife_over_documents() -> None:
    rng = np.random.default_rng(3)
    truth = rng.integers(1, 6, (12, 4))
    ratings = np.clip(truth + rng.integers(-1, 2, (3, 12, 4)), 1, 5).astype(float)
    ratings[0, 2, 1] = NAN
    values = np.unique(ratings[~np.isnan(ratings)])

    found = found_in(ratings)

    def log_rest(kept: FloatArray) -> float:
        units = ratings[:, kept].reshape(3, -1)
        return float(np.log(1 - by_definition(units, values, is_quadratic=True)))

    left_out = [log_rest(np.delete(np.arange(12), row)) for row in range(12)]
    error = np.sqrt(11 / 12 * ((left_out - np.mean(left_out)) ** 2).sum())
    half = stats.t.ppf(0.975, 11) * error
    ends = [1 - np.exp(log_rest(np.arange(12)) + side * half) for side in (1, -1)]
    assert found.ac2.interval.ends == pytest.approx(tuple(ends))


@pytest.mark.parametrize(
    ("ratings", "reason"),
    [
        ([[[1.0, NAN]], [[NAN, 2.0]]], "no output has ratings by two annotators"),
        ([[[3.0, 3.0]], [[3.0, 3.0]]], "so agreement cannot be distinguished"),
        (np.empty((0, 1, 2)), "no output has ratings"),
    ],
)
def test_an_undefined_one_says_why(ratings: object, reason: str) -> None:
    found = found_in(np.array(ratings, dtype=float)).ac1

    assert found.estimate.value is None
    assert reason in found.estimate.reason
    assert reason in found.interval.reason
