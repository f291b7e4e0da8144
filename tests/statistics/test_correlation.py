"""Correlations at three levels: as scipy defines them, with ties, constants and gaps; never NaN."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats

from geval.statistics import correlation
from geval.statistics.arrays import Outputs
from geval.statistics.coefficients import Concordance, concordance
from geval.statistics.correlation import (
    COEFFICIENTS,
    LEVELS,
    Coefficient,
    coefficient_of,
    coefficients_of_rows,
    correlation_at,
)
from geval.statistics.types import FloatArray
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
        patch.setattr(correlation, "PAIRWISE_COLUMNS", 0)
        one_by_one = correlations(*tables)

    for coefficient in COEFFICIENTS:
        for level in LEVELS:
            a, b = usual.estimates[coefficient][level], one_by_one.estimates[coefficient][level]
            assert (a.value is None) == (b.value is None)
            assert a.value is None or a.value == pytest.approx(b.value, abs=1e-9)


@given(pairs_of_tables(), st.sampled_from(COEFFICIENTS))
def test_rows_with_gaps_have_the_coefficients_of_what_is_there(
    tables: tuple[FloatArray, FloatArray], coefficient: Coefficient
) -> None:
    there = ~np.isnan(tables[0]) & ~np.isnan(tables[1])
    human, judge = (np.where(there, side, NAN) for side in tables)

    found = coefficients_of_rows(human, judge, coefficient)

    expected = [
        by_scipy(x[own], y[own], coefficient) for x, y, own in zip(human, judge, there, strict=True)
    ]
    np.testing.assert_allclose(found, expected, atol=1e-6)


@pytest.mark.parametrize("columns", [40, 63, 64, 65, 130, 199, 200, 201])
@pytest.mark.parametrize("coefficient", ["spearman", "kendall"])
def test_documents_of_many_outputs_are_ranked_as_small_ones_are(
    columns: int, coefficient: Coefficient
) -> None:
    rng = np.random.default_rng(columns)
    human, judge = rng.integers(0, columns, (2, 3, columns)).astype(float)

    found = coefficients_of_rows(human, judge, coefficient)

    expected = [by_scipy(x, y, coefficient) for x, y in zip(human, judge, strict=True)]
    np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize(("values", "others"), [(5, 3), (250, 290), (290, 250)])
def test_pairs_are_counted_however_many_values_there_are(values: int, others: int) -> None:
    rng = np.random.default_rng(values)
    x = np.append(rng.permutation(values), rng.integers(0, values, 300 - values)) / 8
    y = np.append(rng.permutation(others), rng.integers(0, others, 300 - others)) / 8

    found = concordance(x, y)

    of_x, of_y = (np.sign(np.subtract.outer(side, side)) for side in (x, y))
    assert found == Concordance(
        surplus=int((of_x * of_y).sum()) // 2,
        untied_x=int((of_x != 0).sum()) // 2,
        untied_y=int((of_y != 0).sum()) // 2,
        levels=min(values, others),
    )


def test_at_session_level_the_turns_of_a_system_are_averaged_first() -> None:
    # Two sessions with two systems of two turns each.
    outputs = Outputs(np.repeat([0, 1], 4), np.tile([0, 0, 1, 1], 2), 2, 2)
    human = np.array([1.0, 3, 2, 4, 5, 5, 1, 2])
    judge = np.array([2.0, 2, 5, 3, 4, 5, 1, 3])

    found = correlation.correlations(outputs, human, judge)

    # Means of people 2, 3, 5, 1.5 and of the judge 2, 4, 4.5, 2
    for coefficient in COEFFICIENTS:
        of_sessions = found.estimates[coefficient]["session"].value
        means = np.array([2, 3, 5, 1.5]), np.array([2, 4, 4.5, 2])
        assert of_sessions == pytest.approx(by_scipy(*means, coefficient))
        of_turns = found.estimates[coefficient]["dataset"].value
        assert of_turns == pytest.approx(by_scipy(human, judge, coefficient))
        assert of_turns != pytest.approx(of_sessions)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("coefficient", COEFFICIENTS)
@pytest.mark.parametrize("is_weighted", [False, True])
def test_a_coefficient_by_itself_is_the_one_among_all(
    level: correlation.Level, coefficient: Coefficient, is_weighted: bool
) -> None:
    rng = np.random.default_rng(5)
    outputs = Outputs(np.repeat(np.arange(6), 6), np.tile([0, 0, 1, 1, 2, 2], 6), 6, 3)
    outputs = outputs.weighted(rng.uniform(1, 4, 36) if is_weighted else None)
    human, judge = rng.integers(1, 6, (2, 36)).astype(float)
    human[:7] = judge[-3:] = NAN

    every = correlation.correlations(outputs, human, judge).estimates

    assert correlation_at(outputs, human, judge, coefficient, level) == every[coefficient][level]
    assert every[coefficient][level].value is not None


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


def test_values_that_no_float_can_tell_apart_have_a_reason() -> None:
    tiny = np.array([1e-200, 2e-200, 3e-200])

    with np.errstate(invalid="ignore"):
        found = coefficient_of(tiny, tiny, "pearson", weight=np.ones(3))

    assert found.value is None
    assert "too close to each other" in found.reason


def test_means_equal_as_fractions_tie_although_they_differ_as_floats() -> None:
    ratings = np.array(
        [[[0.1, 0.3]], [[0.2, 0.3]], [[0.6, 0.3]]]
    )  # (0.1 + 0.2 + 0.6) / 3 is 0.3 but for rounding

    mean = mean_over_raters(ratings)

    assert mean[0, 0] == mean[0, 1]


def test_the_mean_is_over_those_who_rated() -> None:
    ratings = np.array([[[1.0, NAN, 4]], [[2.0, NAN, NAN]]])

    assert np.array_equal(mean_over_raters(ratings), [[1.5, NAN, 4]], equal_nan=True)
