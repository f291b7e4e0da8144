"""The short ways to ranks and pairs give the numbers of the long ones."""

import numpy as np
import pytest
from scipy import stats

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
