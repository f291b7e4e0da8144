"""Comparisons of judges and annotators on hard data: ties, constants, gaps, single raters; no NaN,
no errors."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import optimize

from geval.statistics.calibration import isotonic, nearest_to_all
from geval.statistics.coefficients import concentration
from geval.statistics.preferences import bradley_terry
from geval.statistics.types import FloatArray
from tests.statistics.tables import (
    permutation_test,
)

NAN = math.nan
POINTS = st.sampled_from([1.0, 2.0, 3.0, NAN])


def test_a_judge_does_not_differ_from_itself_and_a_random_p_is_never_zero() -> None:
    rng = np.random.default_rng(1)
    human = rng.normal(size=(30, 6))
    good, bad = human + rng.normal(0, 0.2, human.shape), rng.normal(size=human.shape)

    same = permutation_test(human, good, good, "pearson", rng=rng, permutations=50)
    differ = permutation_test(human, good, bad, "pearson", rng=rng, permutations=99)

    assert same.p == 1
    assert differ.p == pytest.approx(1 / 10_001)
    assert not differ.exact


@given(
    st.lists(st.tuples(st.floats(0, 5), st.floats(0, 5), st.floats(0.01, 40)), min_size=1),
    st.sampled_from([1, 17]),
)
def test_the_isotonic_map_is_that_of_scipy_to_the_last_digit(
    rows: list[tuple[float, float, float]], digits: int
) -> None:
    judge, human, weight = np.array(rows).T
    judge, human = np.round(judge, 1), np.round(human, digits)
    x, place = np.unique(judge, return_inverse=True)
    count = np.bincount(place, weight)
    mean = np.bincount(place, human * weight) / count

    mapped = isotonic(judge, human, weight)

    assert mapped.x.tolist() == x.tolist()
    assert mapped.fit.tolist() == optimize.isotonic_regression(mean, weights=count).x.tolist()


@given(hnp.arrays(float, st.integers(1, 30), elements=st.integers(1, 5).map(float)))
def test_no_constant_is_nearer_to_all_ratings_than_the_best(ratings: FloatArray) -> None:
    best = nearest_to_all(ratings)

    distances = [np.abs(ratings - point).sum() for point in np.arange(1, 5.5, 0.5)]
    assert np.abs(ratings - best).sum() == pytest.approx(min(distances))


@given(hnp.arrays(float, st.integers(0, 20), elements=POINTS))
def test_concentration_counts_what_is_there(values: FloatArray) -> None:
    found = concentration(values)

    if found:
        assert 0 <= found.tie_rate <= 1
        assert 0 <= found.entropy_bits <= np.log2(3) + 1e-9
        assert found.ties_mislead == (found.tie_rate >= 0.3)


def test_a_system_that_won_everything_has_no_finite_strength_and_that_is_said() -> None:
    assert not bradley_terry(np.array([[0.0, 3], [0, 0]])).connected
    assert bradley_terry(np.array([[0.0, 3], [1, 0]])).connected
