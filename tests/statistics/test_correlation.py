"""Correlations at three levels: as scipy defines them, with ties, constants and gaps; never NaN."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats

from evaluations.statistics import correlation
from evaluations.statistics.correlation import COEFFICIENTS, LEVELS, Coefficient
from evaluations.statistics.pairing import FloatArray
from tests.statistics.tables import correlations, mean_over_raters

NAN = math.nan
SCIPY = {
    "pearson": lambda x, y: stats.pearsonr(x, y).statistic,
    "spearman": lambda x, y: stats.spearmanr(x, y).statistic,
    "kendall": lambda x, y: stats.kendalltau(x, y).statistic,
}
# Few distinct values make ties and constant rows frequent; NaN makes gaps.
CELLS = st.sampled_from([1.0, 2.0, 3.0, 4.0, 2.5, NAN]) | st.floats(-10, 10).map(
    lambda value: round(value, 3)
)


@st.composite
def pairs_of_tables(draw: st.DrawFn) -> tuple[FloatArray, FloatArray]:
    shape = (draw(st.integers(1, 6)), draw(st.integers(1, 7)))
    human = draw(hnp.arrays(float, shape, elements=CELLS))
    judge = draw(hnp.arrays(float, shape, elements=CELLS))
    return human, judge


def by_scipy(x: FloatArray, y: FloatArray, coefficient: str) -> float:
    if len(x) < 2:
        return NAN
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return float(SCIPY[coefficient](x, y))


@given(pairs_of_tables())
def test_every_level_equals_scipy_on_the_pairs_that_are_there(
    tables: tuple[FloatArray, FloatArray],
) -> None:
    human, judge = tables
    there = ~np.isnan(human) & ~np.isnan(judge)

    found = correlations(human, judge)

    for coefficient in COEFFICIENTS:
        rows = [
            by_scipy(human[i][there[i]], judge[i][there[i]], coefficient) for i in range(len(human))
        ]
        defined = [value for value in rows if not math.isnan(value)]
        columns = [j for j in range(human.shape[1]) if there[:, j].any()]
        means = [
            np.array(
                [np.round(side[there[:, j], j].sum() / there[:, j].sum(), 10) for j in columns]
            )
            for side in (human, judge)
        ]
        expected = {
            "summary": float(np.mean(defined)) if defined else NAN,
            "system": by_scipy(*means, coefficient),
            "dataset": by_scipy(human[there], judge[there], coefficient),
            # A table has one output of a system in a document, so that there are no sessions.
            "session": by_scipy(human[there], judge[there], coefficient),
        }
        for level in LEVELS:
            estimate = found.estimates[coefficient][level]
            if math.isnan(expected[level]):
                assert estimate.value is None
                assert estimate.reason
            else:
                assert estimate.value == pytest.approx(expected[level], abs=1e-6)
    assert found.pairs == there.sum()


@given(pairs_of_tables())
def test_more_systems_than_pairwise_tables_hold_give_the_same(
    tables: tuple[FloatArray, FloatArray],
) -> None:
    usual = correlations(*tables)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(correlation, "PAIRWISE_SYSTEMS", 0)
        one_by_one = correlations(*tables)

    for coefficient in COEFFICIENTS:
        for level in LEVELS:
            a, b = usual.estimates[coefficient][level], one_by_one.estimates[coefficient][level]
            assert (a.value is None) == (b.value is None)
            assert a.value is None or a.value == pytest.approx(b.value, abs=1e-9)


def test_documents_where_a_side_is_constant_are_left_out_and_counted() -> None:
    human = np.array([[1.0, 2, 3], [2, 2, 2], [1, 2, 3], [NAN, NAN, NAN]])
    judge = np.array([[1.0, 2, 3], [1, 2, 3], [5, 5, 5], [1, 2, 3]])

    found = correlations(human, judge)

    assert (found.documents, found.documents_used) == (3, 1)
    assert found.estimates["kendall"]["summary"].value == 1.0


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_undefined_is_none_with_a_reason(coefficient: Coefficient) -> None:
    same = np.full((2, 3), 4.0)

    found = correlations(same, np.arange(6.0).reshape(2, 3)).estimates[coefficient]

    assert [found[level].value for level in LEVELS] == [None] * len(LEVELS)
    assert "human ratings are the same" in found["dataset"].reason
    assert all(found[level].reason for level in LEVELS)


def test_no_pairs_at_all_is_no_error() -> None:
    found = correlations(np.full((2, 2), NAN), np.ones((2, 2)))

    assert (found.documents, found.pairs) == (0, 0)
    assert (
        found.estimates["pearson"]["summary"].reason == "no document has both a rating and a score"
    )


def test_tau_b_by_hand() -> None:
    # Pairs: (1,1)-(2,3) +, (1,1)-(2,2) +, (2,3)-(2,2) tied in x. (2 - 0) / sqrt(2 * 3) = 0.8165
    found = correlations(np.array([[1.0, 2, 2]]), np.array([[1.0, 3, 2]]))

    assert found.estimates["kendall"]["summary"].value == pytest.approx(2 / math.sqrt(6))


def test_means_equal_as_fractions_tie_although_they_differ_as_floats() -> None:
    ratings = np.array(
        [[[0.1, 0.3]], [[0.2, 0.3]], [[0.6, 0.3]]]
    )  # (0.1 + 0.2 + 0.6) / 3 is 0.3 but for rounding

    mean = mean_over_raters(ratings)

    assert mean[0, 0] == mean[0, 1]


def test_the_mean_is_over_those_who_rated() -> None:
    ratings = np.array([[[1.0, NAN, 4]], [[2.0, NAN, NAN]]])

    assert np.array_equal(mean_over_raters(ratings), [[1.5, NAN, 4]], equal_nan=True)
