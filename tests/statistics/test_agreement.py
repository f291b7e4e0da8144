"""Agreement among annotators: Krippendorff's alpha as the krippendorff package has it, and
leave-one-out by hand."""

import math

import krippendorff
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats

from geval.statistics.agreement import MEASUREMENTS, Measurement
from geval.statistics.jackknife import TOO_FEW
from geval.statistics.types import FloatArray
from tests.statistics.tables import alpha_interval, human_ceiling, krippendorff_alpha

NAN = math.nan
RATINGS = hnp.arrays(
    float,
    st.tuples(st.integers(2, 4), st.integers(1, 5), st.integers(1, 4)),
    elements=st.sampled_from([1, 2, 3, NAN]),
)


@given(RATINGS, st.sampled_from(["nominal", *MEASUREMENTS]))
def test_alpha_equals_the_package(ratings: FloatArray, measurement: Measurement) -> None:
    units = ratings.reshape(len(ratings), -1)
    units = units[:, (~np.isnan(units)).sum(axis=0) > 1]
    assume(len(np.unique(units[~np.isnan(units)])) > 1)

    found = krippendorff_alpha(ratings, measurement)

    expected = krippendorff.alpha(reliability_data=units, level_of_measurement=measurement)
    assert found.value == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("ratings", "reason"),
    [
        ([[[1.0, NAN]], [[NAN, 2.0]]], "no output has ratings by two annotators"),
        ([[[3.0, 3.0]], [[3.0, 3.0]]], "all ratings are the same"),
        (np.empty((0, 1, 2)), "no output has ratings"),
    ],
)
def test_alpha_is_undefined_with_a_reason(ratings: object, reason: str) -> None:
    found = krippendorff_alpha(np.array(ratings, dtype=float), "ordinal")

    assert found.value is None
    assert reason in found.reason


@pytest.mark.parametrize("measurement", MEASUREMENTS)
def test_what_one_annotator_alone_rated_plays_no_part(measurement: Measurement) -> None:
    rng = np.random.default_rng(2)
    pairs = rng.integers(1, 4, (3, 12, 3)).astype(float)
    more = np.concatenate([pairs, np.full((3, 5, 3), NAN)], axis=1)
    more[1, 12:] = rng.integers(1, 9, (5, 3))

    assert krippendorff_alpha(more, measurement) == krippendorff_alpha(pairs, measurement)
    same = more.copy()
    same[:, :12] = 3.0
    assert krippendorff_alpha(same, measurement).reason.startswith("all ratings are the same")
    of_nine = more.copy()
    of_nine[:2, :3] = NAN
    found = alpha_interval(of_nine, measurement)
    assert found.reason == TOO_FEW.format(10, "documents")


@pytest.mark.parametrize("measurement", MEASUREMENTS)
def test_two_different_ratings_are_enough_for_an_interval(measurement: Measurement) -> None:
    ratings = np.random.default_rng(3).integers(0, 2, (3, 20, 3)).astype(float)

    assert alpha_interval(ratings, measurement).ends


@pytest.mark.parametrize("measurement", MEASUREMENTS)
def test_without_the_only_document_where_ratings_differ_there_is_no_alpha(
    measurement: Measurement,
) -> None:
    ratings = np.full((2, 12, 2), 3.0)
    ratings[:, 0] = [[1.0, 2], [1, 3]]

    found = alpha_interval(ratings, measurement)

    assert found.reason.startswith("the ratings are skewed")


def test_leave_one_out_ranks_a_rater_against_the_mean_of_the_others() -> None:
    # Others' means in document 0: 1.5, 2.5, 3.5, the same order as rater 0's. Document 1: rater 0
    # is constant.
    ratings = np.array([[[1.0, 2, 3], [2, 2, 2]], [[1, 2, 3], [1, 2, 3]], [[2, 3, 4], [1, 2, 3]]])

    found = human_ceiling(ratings).by_rater[0]

    assert (found.estimate.value, found.documents_used) == (pytest.approx(1), 1)


def test_intervals_of_leave_one_out_are_students_t_of_its_documents() -> None:
    ratings = np.random.default_rng(4).normal(size=(3, 12, 5))

    found = human_ceiling(ratings).by_rater[0]

    others = ratings[1:].mean(axis=0)
    each = [stats.spearmanr(*both).statistic for both in zip(ratings[0], others, strict=True)]
    ends = stats.t.interval(0.95, 11, np.mean(each), stats.sem(each))
    assert found.interval.ends == pytest.approx(ends)


def test_leave_one_out_is_undefined_where_nobody_else_rated() -> None:
    found = human_ceiling(np.array([[[1.0, 2]], [[NAN, NAN]]])).by_rater[0]

    assert found.estimate.value is None
    assert found.estimate.reason
