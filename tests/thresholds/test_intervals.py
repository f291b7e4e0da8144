"""From how many documents, systems and outputs on a number has an interval, and which one."""

import numpy as np
import pytest
from scipy import stats

from evaluations.reports.analysis import Judged, View, analyse_judge
from evaluations.scales import Scale
from evaluations.statistics.correlation import coefficients_by_document
from evaluations.statistics.jackknife import LeftOut, correlation_interval, summary_interval
from evaluations.statistics.layout import Outputs, Ratings
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
    outputs = Outputs.full(value, 3)
    ratings = Ratings.of_table(RNG.integers(1, 6, (3, value * 3)).astype(float))
    scores = RNG.permutation(np.tile([1.0, 2.0, 5.0], (value, 1)), axis=1).ravel()
    human = np.tile([1.0, 3.0, 4.0], value)
    judged = Judged(
        outputs, human, ratings, scores, scores, np.zeros(3, bool), np.zeros(3, bool), Scale(1, 5)
    )

    found = analyse_judge(judged, View())

    assert (found.percentile.ends is not None) is expected
    assert (found.bca.ends is not None) is expected
    assert expected or "50 documents" in found.bca.reason


@pins("CONFIDENCE", {0.949: False, 0.95: True, 0.951: False})
def test_an_interval_is_that_of_95_percent(value: float, expected: bool) -> None:
    values = RNG.normal(size=30)
    half = stats.t.ppf((1 + value) / 2, 29) * values.std(ddof=1) / np.sqrt(30)

    interval = LeftOut.each(30).mean_interval(values)

    assert interval.ends
    assert (
        interval.ends == pytest.approx((values.mean() - half, values.mean() + half))
    ) is expected
