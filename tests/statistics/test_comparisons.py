"""Comparisons of judges and annotators on hard data: ties, constants, gaps, single raters; no NaN,
no errors."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import optimize

from geval.statistics.calibration import isotonic, nearest_to_all
from geval.statistics.coefficients import concentration
from geval.statistics.preferences import bradley_terry
from geval.statistics.significance import holm
from geval.statistics.types import FloatArray
from tests.statistics.tables import (
    alt_test,
    cross_validated_error,
    intraclass,
    permutation_test,
)

NAN = math.nan
POINTS = st.sampled_from([1.0, 2.0, 3.0, NAN])
TABLE = st.tuples(st.integers(1, 4), st.integers(1, 4)).flatmap(
    lambda shape: st.tuples(*[hnp.arrays(float, shape, elements=POINTS) for _ in range(3)])
)
RATERS = hnp.arrays(float, st.tuples(st.integers(0, 4), st.integers(0, 6)), elements=POINTS)


@settings(max_examples=50, deadline=None)
@given(TABLE)
def test_a_permutation_test_gives_a_p_value_or_a_reason(
    tables: tuple[FloatArray, ...],
) -> None:
    found = permutation_test(*tables, "spearman", rng=np.random.default_rng(0), permutations=20)

    if found.p is None:
        assert found.reason
    else:
        assert 0 < found.p <= 1


def test_a_judge_does_not_differ_from_itself_and_a_random_p_is_never_zero() -> None:
    rng = np.random.default_rng(1)
    human = rng.normal(size=(30, 6))
    good, bad = human + rng.normal(0, 0.2, human.shape), rng.normal(size=human.shape)

    same = permutation_test(human, good, good, "pearson", rng=rng, permutations=50)
    differ = permutation_test(human, good, bad, "pearson", rng=rng, permutations=99)

    assert same.p == 1
    assert differ.p == pytest.approx(1 / 10_001)
    assert not differ.exact


@given(RATERS)
def test_reliability_is_a_number_or_a_reason(ratings: FloatArray) -> None:
    found = intraclass(ratings)
    for estimate in (found.icc1, found.icc2_1):
        assert bool(estimate.reason) == (estimate.value is None)
        assert estimate.value is None or math.isfinite(estimate.value)


@given(RATERS)
def test_the_alternative_annotator_test_never_fails(ratings: FloatArray) -> None:
    found = alt_test(ratings, np.ones(ratings.shape[1]))

    for estimate in (found.winning_rate, found.advantage):
        assert bool(estimate.reason) == (estimate.value is None)
        assert estimate.value is None or 0 <= estimate.value <= 1


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


def test_a_map_of_noise_comes_no_nearer_to_people_than_the_best_constant() -> None:
    rng = np.random.default_rng(4)
    human = rng.integers(1, 6, (60, 5)).astype(float)
    noise = np.tile(np.linspace(1, 5, 50), 6).reshape(60, 5)
    near = human + rng.normal(0, 1, human.shape)

    of_noise, of_near = (cross_validated_error(human, side, rng=rng) for side in (noise, near))

    assert of_noise
    assert of_near
    assert of_noise.after < of_noise.before
    assert not of_noise.is_worth_a_map
    assert of_near.is_worth_a_map


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


def test_among_many_pairs_of_judges_a_clear_difference_is_still_shown() -> None:
    """Six judges on four criteria are 60 tests: 1 in 1,001 orderings would be 0.06 adjusted."""
    rng = np.random.default_rng(3)
    quality = rng.normal(size=(100, 8))
    human = quality + rng.normal(0, 0.5, quality.shape)
    good, bad = (quality + rng.normal(0, sd, quality.shape) for sd in (0.3, 3.0))
    found = permutation_test(human, good, bad, "spearman", rng=rng)
    assert found.orderings == 10_000
    assert found.p is not None
    assert holm([found.p] * 60)[0] < 0.05
