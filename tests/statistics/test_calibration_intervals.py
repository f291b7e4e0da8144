"""Intervals of calibration, and of precision with more documents: against independent ways, and by
simulation."""

import numpy as np
import pytest
from scipy import stats

from geval.statistics.arrays import Outputs
from geval.statistics.calibration import reliability_intervals
from geval.statistics.projection import documents_for, half_width_with
from geval.statistics.weighted import freedom_share

RNG = np.random.default_rng(11)


def test_intervals_of_bins_are_the_jackknifes_of_a_ratio() -> None:
    outputs = Outputs.full(30, 4)
    judge = RNG.integers(1, 6, 120).astype(float)
    human = np.clip(judge + RNG.normal(0, 1, 120), 1, 5)
    judge[:3] = np.nan

    found = reliability_intervals(outputs, judge, human)

    known = ~np.isnan(judge)
    document = np.arange(120) // 4
    for one, interval in found[1:-1]:
        inside = known & (judge == one.score)
        groups = np.unique(document[inside])
        left_out = [human[inside & (document != group)].mean() for group in groups]
        variance = (len(groups) - 1) ** 2 / len(groups) * np.var(left_out, ddof=1)
        half = stats.t.ppf(0.975, len(groups) - 1) * np.sqrt(variance)
        assert interval.ends == pytest.approx((one.rating - half, one.rating + half))


def test_a_mean_of_few_documents_has_no_interval() -> None:
    judge, human = np.full(36, 3.0), RNG.normal(3, 1, 36)

    ((_one, interval),) = reliability_intervals(Outputs.full(9, 4), judge, human)

    assert interval.ends is None
    assert "10 documents" in interval.reason


@pytest.mark.parametrize("wanted", [12, 80])
def test_projected_widths_are_those_of_intervals_with_so_many_documents(wanted: int) -> None:
    def half(documents: int) -> float:
        values = RNG.normal(0.4, 0.3, (4000, documents))
        spread = values.std(axis=1, ddof=1).mean() / np.sqrt(documents)
        return float(stats.t.ppf(0.975, documents - 1) * spread)

    projected = half_width_with(half(40), documents=40, wanted=wanted)

    assert projected == pytest.approx(half(wanted), rel=0.03)


def test_equal_weights_tell_of_the_spread_what_no_weights_do() -> None:
    assert freedom_share(None) == freedom_share(np.full(7, 3.0)) == pytest.approx(1)
    assert freedom_share(np.array([1.0, 1.0, 0.0])) == pytest.approx(1)
    assert freedom_share(np.array([1.0, 5.0])) < 1


def test_the_number_of_documents_for_a_goal_is_the_least_that_reaches_it() -> None:
    needed = documents_for(0.12, documents=40, goal=0.05)

    assert needed is not None
    assert half_width_with(0.12, documents=40, wanted=needed) <= 0.05
    assert half_width_with(0.12, documents=40, wanted=needed - 1) > 0.05
    assert documents_for(0.5, documents=10, goal=1e-6) is None
