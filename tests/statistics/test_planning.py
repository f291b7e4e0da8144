"""How many documents a campaign takes: by width, by power, and by looks after every document."""

import numpy as np
import pytest
from scipy import stats

from geval.statistics.anytime import confidence_sequence, expected_half_width
from geval.statistics.planning import (
    for_power,
    for_width,
    power_of,
    values_of_groups,
)
from geval.statistics.projection import documents_for, half_width_with


def with_spread(mean: float, spread: float, count: int = 60) -> np.ndarray:
    """Values with exactly this mean and standard deviation."""
    values = stats.norm.ppf((np.arange(count) + 0.5) / count)
    return mean + spread * (values - values.mean()) / values.std(ddof=1)


@pytest.mark.parametrize(("effect", "documents"), [(0.5, 34), (0.2, 199), (0.8, 15)])
def test_power_is_that_of_published_tables(effect: float, documents: int) -> None:
    """Cohen (1988) and common programs: 80 % power of a paired t test at 5 %, two-sided."""
    found = for_power(with_spread(effect, 1.0), effect)

    assert found.likely == documents
    assert power_of(effect, documents) >= 0.8 > power_of(effect, documents - 1)


@pytest.mark.parametrize("count", [60, 200, 800])
@pytest.mark.parametrize("spread", [0.2, 0.45])
def test_the_width_at_any_time_is_foreseen(count: int, spread: float) -> None:
    rng = np.random.default_rng(2)
    halves, spreads = [], []
    for _ in range(9):
        values = np.clip(rng.normal(0.3, spread, count), -1, 1)
        (ends,) = confidence_sequence(values, [count])
        halves.append((ends.high - ends.low) / 2)
        spreads.append(values.std(ddof=1))

    expected = 2 * expected_half_width(float(np.median(spreads)) / 2, count)
    assert expected == pytest.approx(float(np.median(halves)), rel=0.15)


# Another number of documents like these


@pytest.mark.parametrize("freedom", [1.0, 0.5, 0.1])
@pytest.mark.parametrize(("documents", "wanted"), [(20, 50), (20, 21), (3, 40), (12, 5)])
def test_the_width_with_more_documents_is_by_students_t_and_fishers_f(
    documents: int, wanted: int, freedom: float
) -> None:
    """In a promise each document tells of how much they vary by so much (method.md)."""

    def t(tells: float) -> float:
        return float(stats.t.ppf(0.975, max(tells - 1, 1)))

    shrink = np.sqrt(documents / wanted)
    likely = half_width_with(0.3, documents=documents, wanted=wanted, freedom=freedom)
    assert likely == pytest.approx(0.3 * shrink * t(wanted) / t(documents))

    promised = half_width_with(
        0.3, documents=documents, wanted=wanted, assurance=0.9, freedom=freedom
    )
    m, n = documents * freedom, wanted * freedom
    expected = 0.3 * shrink * t(n) / t(m)
    if wanted > documents:
        old, new = max(m - 1, 1), n - m
        expected *= np.sqrt((old + new * stats.f.ppf(0.9, new, old)) / (old + new))
    assert promised == pytest.approx(expected)


def test_two_documents_are_the_fewest_and_a_million_the_most() -> None:
    def found(goal: float) -> int | None:
        return documents_for(0.3, documents=20, goal=goal)

    last, beyond = (
        half_width_with(0.3, documents=20, wanted=wanted) for wanted in (1_000_000, 1_000_001)
    )
    assert found(100.0) == 2
    assert found(half_width_with(0.3, documents=20, wanted=50)) == 50
    assert found(last) == 1_000_000
    assert found((last + beyond) / 2) is None
    assert found(beyond) is None


def test_groups_of_equal_documents_are_planned_as_their_number() -> None:
    """Five equal documents in each group tell what one tells; groups of one are documents."""
    values = with_spread(0.4, 0.5)
    group = np.repeat(np.arange(60), 5)
    of_groups = values_of_groups(np.repeat(values, 5), group)

    assert of_groups == pytest.approx(values)
    assert for_width(of_groups, 0.05) == for_width(values, 0.05)
    assert values_of_groups(values, np.arange(60)[::-1]) == pytest.approx(values[::-1])


def test_values_of_groups_have_the_robust_variance_of_a_mean() -> None:
    rng = np.random.default_rng(2)
    group = np.array([0] * 7 + [1] * 2 + [2] * 5 + [3] * 6)
    values = rng.normal(size=4)[group] + rng.normal(size=20)
    values[[3, 8]] = np.nan
    counts = ~np.isnan(values)
    residuals = values[counts] - values[counts].mean()
    totals = np.bincount(group[counts], residuals)

    found = values_of_groups(values, group)

    assert found.mean() == pytest.approx(values[counts].mean())
    assert found.var(ddof=1) / 4 == pytest.approx(4 / 3 * (totals**2).sum() / counts.sum() ** 2)
    assert not len(values_of_groups(np.full(3, np.nan), np.zeros(3, dtype=np.int64)))
