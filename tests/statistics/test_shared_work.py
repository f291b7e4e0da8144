"""What judges share is computed once, and the short ways give the numbers of the long ones."""

import numpy as np
import pytest
from scipy import stats

from geval.statistics.cache import MOST_KEPT, once
from geval.statistics.coefficients import Concordance, concordance, ranks

RNG = np.random.default_rng(3)
PAIRS = [
    pytest.param(RNG.integers(1, 6, 400) / 1.0, RNG.integers(1, 6, 400) / 3, id="many ties"),
    pytest.param(RNG.normal(size=400), RNG.normal(size=400), id="no ties, too many for a table"),
    pytest.param(RNG.integers(1, 6, 400) / 1.0, RNG.normal(size=400), id="ties on one side"),
    pytest.param(np.array([1.0, 2.0]), np.array([2.0, 1.0]), id="two outputs"),
]


@pytest.mark.parametrize(("x", "y"), PAIRS)
def test_tau_b_is_that_of_scipy(
    x: np.ndarray, y: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("geval.statistics.coefficients.LEAST_TABLE", 100)

    found = concordance(x, y)

    assert isinstance(found, Concordance)
    assert found.tau_b == pytest.approx(stats.kendalltau(x, y).statistic, abs=1e-12)


@pytest.mark.parametrize("cells", [0, 1_000_000], ids=["by sorting", "in a table"])
@pytest.mark.parametrize(("x", "y"), PAIRS)
def test_weights_count_pairs_as_repeated_values_do(
    x: np.ndarray, y: np.ndarray, cells: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("geval.statistics.coefficients.LEAST_TABLE", cells)
    monkeypatch.setattr("geval.statistics.coefficients.TABLE_CELLS", 0)
    weight = np.random.default_rng(len(x)).integers(1, 5, len(x))

    found = concordance(x, y, weight.astype(float))

    assert found == concordance(np.repeat(x, weight), np.repeat(y, weight))


@pytest.mark.parametrize(("x", "y"), PAIRS)
def test_ranks_are_those_of_scipy(x: np.ndarray, y: np.ndarray) -> None:
    assert np.array_equal(ranks(x), stats.rankdata(x))
    assert np.array_equal(ranks(y), stats.rankdata(y))


def test_long_arrays_with_another_middle_differ_also_by_keyword() -> None:
    values, weight = np.arange(5000.0), np.ones(5000)
    other_weight = np.where(np.arange(5000) == 2500, 50.0, weight)

    first, second = ranks(values, weight=weight), ranks(values, weight=other_weight)

    assert np.array_equal(second, ranks(values, other_weight))
    assert not np.array_equal(first, second)


def test_the_same_values_are_computed_once_and_others_anew() -> None:
    asked = []

    @once
    def doubled(values: np.ndarray, *, times: int = 2) -> np.ndarray:
        asked.append(times)
        return values * times

    values = np.arange(4.0)
    for _ in range(2):
        assert np.array_equal(doubled(values.copy()), [0, 2, 4, 6])
    values[0] = 5
    assert np.array_equal(doubled(values), [10, 2, 4, 6])
    assert np.array_equal(doubled(values, times=3), [15, 3, 6, 9])
    assert asked == [2, 2, 3]
    with pytest.raises(ValueError, match="read-only"):
        doubled(values)[0] = 1


def test_few_results_are_kept() -> None:
    asked = []

    @once
    def of(number: int) -> int:
        asked.append(number)
        return number

    for number in [*range(MOST_KEPT + 1), 0]:
        of(number)

    assert asked[-1] == 0
