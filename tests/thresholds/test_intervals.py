"""From how many documents, systems and outputs on a number has an interval, and which one."""

import numpy as np
import pytest
from scipy import optimize, stats

from geval.reports.marks import _why_not
from geval.statistics.agreement import Measurement, coincidences
from geval.statistics.arrays import Outputs, Ratings
from geval.statistics.correlation import coefficients_by_document
from geval.statistics.jackknife import LeftOut, correlation_interval, summary_interval
from geval.statistics.reliability import gwet
from geval.statistics.resampling import Interval
from geval.statistics.types import FloatArray
from tests.thresholds.three_points import pins

RNG = np.random.default_rng(5)


def has_interval(documents: int, systems: int, *view: str) -> bool:
    human, judge = RNG.normal(size=(2, documents * systems))
    outputs = Outputs.full(documents, systems)
    return correlation_interval(outputs, human, judge + human, *view).ends is not None  # type: ignore[arg-type]


@pins("INTERVAL_DOCUMENTS", {9: False, 10: True, 11: True})
@pytest.mark.parametrize("level", ["summary", "dataset"])
def test_documents_for_an_interval(value: int, expected: bool, level: str) -> None:
    assert has_interval(value, 8, "spearman", level, "documents") is expected


@pins("PEARSON_DOCUMENTS", {49: False, 50: True, 51: True})
def test_documents_for_pearsons_r_over_all_outputs(value: int, expected: bool) -> None:
    assert has_interval(value, 8, "pearson", "dataset", "documents") is expected


def skewed(skewness: float) -> FloatArray:
    """Ratings by two annotators of two hundred outputs, with so much skewness: of values at 1, 2
    and a third."""
    values = np.repeat([1.0, 2.0, 3.0], [60, 100, 40])

    def ratings(third: float) -> FloatArray:
        return np.where(values == 3, third, values)

    third = optimize.brentq(lambda third: stats.skew(ratings(third)) - skewness, 2.01, 9)
    first = ratings(third)
    second = first.copy()
    second[[0, 60]] = second[[60, 0]]
    return np.array([first, second])


@pins("ALPHA_SKEWNESS", {0.749: True, 0.75: False, 0.751: False})
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("measurement", ["ordinal", "interval"])
def test_ratings_that_few_documents_make_vary(
    value: float, expected: bool, sign: int, measurement: Measurement
) -> None:
    interval = alpha_interval(sign * skewed(value + 1e-9), measurement)

    assert (interval.ends is not None) is expected
    assert expected or "skewed" in interval.reason


def alpha_interval(table: FloatArray, measurement: Measurement) -> Interval:
    order = np.random.default_rng(3).permutation(table.shape[1])
    outputs, documents = Outputs.full(table.shape[1] // 4, 4), LeftOut.each(table.shape[1] // 4)
    ratings = Ratings.of_table(table[:, order])
    return coincidences(outputs, ratings, documents).interval(measurement, documents)


@pins("EQUAL_VALUES", {19: True, 20: True, 21: False})
def test_many_different_ratings_are_rarely_equal(value: int, expected: bool) -> None:
    first = np.arange(200) % value * 1.0
    table = np.array([first, np.where(np.arange(200) % 3, first, (first + 1) % value)])
    outputs = Outputs.full(50, 4)

    ac1 = gwet(outputs, Ratings.of_table(table), LeftOut.each(50)).ac1

    assert ac1.estimate.value is not None
    assert (ac1.interval.ends is not None) is expected


@pins("INTERVAL_SYSTEMS", {9: False, 10: True, 11: True})
@pytest.mark.parametrize("coefficient", ["pearson", "spearman", "kendall"])
def test_systems_for_an_interval(value: int, expected: bool, coefficient: str) -> None:
    assert has_interval(12, value, coefficient, "system", "systems") is expected


@pins("INTERVAL_OUTPUTS", {59: False, 60: True, 61: True})
def test_outputs_for_an_interval_at_summary_level(value: int, expected: bool) -> None:
    document = np.arange(value) % 12
    outputs = Outputs(document, np.arange(value) // 12, 12, 6)
    human, judge = RNG.normal(size=(2, value))
    by_document = coefficients_by_document(outputs, human, judge, "pearson")

    assert (summary_interval(outputs, by_document).ends is not None) is expected


@pins("BOOTSTRAP_DOCUMENTS", {49: False, 50: True, 51: True})
def test_documents_for_the_bootstrap(value: int, expected: bool) -> None:
    human = np.tile([1.0, 3.0, 4.0], value)

    reason = _why_not(Outputs.full(value, 3), human, human, "summary")

    assert (not reason) is expected
    assert expected or "50 documents" in reason


@pins("CONFIDENCE", {0.949: False, 0.95: True, 0.951: False})
def test_an_interval_is_that_of_95_percent(value: float, expected: bool) -> None:
    values = RNG.normal(size=30)
    half = stats.t.ppf((1 + value) / 2, 29) * values.std(ddof=1) / np.sqrt(30)

    interval = LeftOut.each(30).mean_interval(values)

    assert interval.ends
    assert (
        interval.ends == pytest.approx((values.mean() - half, values.mean() + half))
    ) is expected
