"""Intraclass correlations and kappas, held to their definitions with gaps, with few outputs, and
where nothing differs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from geval.statistics.arrays import Ratings
from geval.statistics.reliability import (
    SAME,
    intraclass,
    one_way,
)
from geval.statistics.types import FloatArray

seeds = st.integers(0, 10_000)
NAN = np.nan
FEW = "fewer than two raters, or fewer than two outputs that all of them rated"


def some_ratings(seed: int, raters: int, outputs: int, missing: float) -> FloatArray:
    rng = np.random.default_rng(seed)
    table = rng.integers(1, 5, (raters, outputs)).astype(float)
    table[rng.random(table.shape) < missing] = NAN
    return table


@given(seeds, st.integers(2, 4), st.integers(2, 8))
def test_two_way_correlations_are_shrout_and_fleiss_over_what_all_rated(
    seed: int, raters: int, outputs: int
) -> None:
    table = some_ratings(seed, raters, outputs + 3, 0.0)
    table[0, outputs] = table[raters - 1, outputs + 1 :] = NAN  # these do not count
    whole = table[:, :outputs]

    found = intraclass(Ratings.of_table(table))

    grand = whole.mean()
    rows = raters * ((whole.mean(axis=0) - grand) ** 2).sum() / (outputs - 1)
    columns = outputs * ((whole.mean(axis=1) - grand) ** 2).sum() / (raters - 1)
    rest = whole - whole.mean(axis=0) - whole.mean(axis=1, keepdims=True) + grand
    error = (rest**2).sum() / ((outputs - 1) * (raters - 1))
    single = rows + (raters - 1) * error + raters * (columns - error) / outputs
    if abs(single) < 1e-12:
        assert found.icc2_1.reason == SAME
    else:
        assert found.icc2_1.value == pytest.approx((rows - error) / single, abs=1e-9)
    assert found.icc1 == one_way(Ratings.of_table(table))


@pytest.mark.parametrize(
    ("table", "is_known"),
    [
        ([[1.0, 2.0], [1.0, 3.0]], True),
        ([[1.0, 2.0], [1.0, NAN]], False),
        ([[1.0, 2.0]], False),
        ([[1.0, 2.0], [NAN, NAN]], False),
    ],
)
def test_two_outputs_that_two_rated_have_a_two_way_correlation(
    table: list[list[float]], is_known: bool
) -> None:
    found = intraclass(Ratings.of_table(np.array(table)))

    assert (found.icc2_1.value is not None) is is_known
    assert is_known or found.icc2_1.reason == FEW


@given(seeds, st.integers(2, 4))
def test_the_one_way_correlation_takes_any_number_of_ratings_an_output(
    seed: int, raters: int
) -> None:
    table = some_ratings(seed, raters, 8, 0.3)
    twice = [column[~np.isnan(column)] for column in table.T if (~np.isnan(column)).sum() > 1]

    found = one_way(Ratings.of_table(table))

    if len(twice) < 2:
        assert found.reason.startswith("fewer than two outputs")
        return
    count = np.array([len(own) for own in twice])
    every = np.concatenate(twice)
    within = sum(((own - own.mean()) ** 2).sum() for own in twice) / (count.sum() - len(twice))
    between = sum(len(own) * (own.mean() - every.mean()) ** 2 for own in twice) / (len(twice) - 1)
    each = (count.sum() - (count**2).sum() / count.sum()) / (len(twice) - 1)
    below = between + (each - 1) * within
    if abs(below) < 1e-12:
        assert found.reason == SAME
    else:
        assert found.value == pytest.approx((between - within) / below, abs=1e-9)
