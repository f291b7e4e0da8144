"""Pearson's r over all outputs where few documents decide: the interval knows that its variance is
known as badly as from these few."""

import numpy as np
import pytest
from scipy import stats

from geval.statistics.arrays import Outputs
from geval.statistics.correlation import Coefficient
from geval.statistics.jackknife import LeftOut, correlation_interval
from geval.statistics.types import FloatArray

DOCUMENTS, SYSTEMS = 60, 8
OUTPUTS = Outputs.full(DOCUMENTS, SYSTEMS)


def corpus(times: float) -> tuple[FloatArray, FloatArray]:
    """Ratings and scores, of which the first document's differ so many times as much as
    others'."""
    human, judge = np.random.default_rng(3).normal(size=(2, DOCUMENTS, SYSTEMS))
    judge += human
    human[0] *= times
    judge[0] *= times
    return human.ravel(), judge.ravel()


def standard_errors(coefficient: Coefficient, times: float) -> float:
    """Half of the interval's width on Fisher's z, in the jackknife's standard errors."""
    human, judge = corpus(times)
    rank = {"pearson": np.asarray, "spearman": stats.rankdata}[coefficient]

    def z(kept: np.ndarray) -> float:
        return float(np.arctanh(np.corrcoef(rank(human[kept]), rank(judge[kept]))[0, 1]))

    left_out = np.array([z(OUTPUTS.document != at) for at in range(DOCUMENTS)])
    squared = ((left_out - left_out.mean()) ** 2).sum()
    interval = correlation_interval(OUTPUTS, human, judge, coefficient, "dataset", "documents")
    assert interval.ends
    low, high = np.arctanh(interval.ends)
    return float((high - low) / 2 / np.sqrt((DOCUMENTS - 1) / DOCUMENTS * squared))


def test_a_single_document_that_decides_leaves_one_degree_of_freedom() -> None:
    assert standard_errors("pearson", 10) == pytest.approx(stats.t.ppf(0.975, 1))


@pytest.mark.parametrize("times", [1, 10])
def test_ranks_keep_the_degrees_of_freedom_of_all_documents(times: float) -> None:
    errors = standard_errors("spearman", times)

    assert errors == pytest.approx(stats.t.ppf(0.975, DOCUMENTS - 1))


@pytest.mark.parametrize(("counting", "freedom"), [(12, 11), (31, 29), (100, 29)])
def test_degrees_of_freedom_are_at_most_those_of_the_documents_that_count(
    counting: int, freedom: int
) -> None:
    """Thirty documents decide, all alike."""
    left_out = 0.5 + 0.01 * np.repeat([1.0, -1.0, 0.0], [15, 15, 70])
    error = np.sqrt(0.99 * 30 * 0.01**2)

    interval = LeftOut.each(100).interval(0.5, left_out, counting=counting, by_influence=True)

    half = stats.t.ppf(0.975, freedom) * error
    assert interval.ends == pytest.approx((0.5 - half, 0.5 + half))
