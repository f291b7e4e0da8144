"""Pearson's r over all outputs where few documents decide: the interval knows that its variance is
known as badly as from these few."""

import numpy as np
import pytest
from scipy import stats

from geval.statistics.jackknife import LeftOut


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
