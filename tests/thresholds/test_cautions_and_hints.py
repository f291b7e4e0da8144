"""Where the report warns of a number, and where it recommends a calibration map."""

from types import SimpleNamespace
from typing import Any

import numpy as np

from geval.reports.at_a_glance import _hints
from geval.reports.cautions import cautions
from geval.statistics.calibration import CalibrationError
from geval.statistics.coefficients import Concentration, concentration
from tests.thresholds.three_points import pins


def result(
    *, rho: float = 0.2, modal: float = 0.5, used: int = 90, passes: bool = True
) -> SimpleNamespace:
    """What the report knows of a judge on a criterion."""
    estimates = {"spearman": {"summary": SimpleNamespace(value=rho)}}
    return SimpleNamespace(
        correlations=SimpleNamespace(
            estimates=estimates, documents_used=used, documents=100, pairs=400
        ),
        alt_test=SimpleNamespace(passes=passes),
        analysis=SimpleNamespace(
            spread=Concentration(1.0, modal, 0.1),
            ppi=SimpleNamespace(is_random=True),
            passing=None,
        ),
    )


@pins("LOW_RHO", {0.299: True, 0.3: False, 0.301: False})
def test_a_judge_that_passes_but_hardly_ranks_is_warned_of(value: float, expected: bool) -> None:
    assert any("hardly distinguishes" in text for text in cautions(result(rho=value))) is expected  # type: ignore[arg-type]


@pins("MODAL_SHARE", {0.59: False, 0.6: True, 0.61: True})
def test_the_same_score_of_most_outputs_is_the_reason(value: float, expected: bool) -> None:
    (text,) = cautions(result(modal=value))  # type: ignore[arg-type]

    assert ("gives the same score" in text) is expected


@pins("USED_DOCUMENTS", {0.74: True, 0.75: False, 0.76: False})
def test_documents_that_do_not_count_are_told_of(value: float, expected: bool) -> None:
    found = cautions(result(used=round(100 * value), passes=False))  # type: ignore[arg-type]

    assert any("documents count" in text for text in found) is expected


@pins("TIES_MISLEAD", {0.29: False, 0.3: True, 0.31: True})
def test_ties_mislead(value: float, expected: bool) -> None:
    assert Concentration(1.0, 0.5, value).ties_mislead is expected


def test_tied_pairs_are_counted() -> None:
    # Of ten pairs of five scores three are of the three twos.
    found = concentration(np.array([2.0, 2.0, 2.0, 1.0, 5.0]))

    assert found
    assert (found.tie_rate, found.modal_share) == (0.3, 0.6)
    assert found.ties_mislead


def test_two_values_have_a_distribution_and_one_has_none() -> None:
    assert concentration(np.array([3.0, np.nan])) is None
    assert concentration(np.array([3.0, 3.0])) == Concentration(0.0, 1.0, 1.0)
    assert concentration(np.array([3.0, np.nan, 4.0])) == Concentration(1.0, 0.5, 0.0)


def test_tiny_scores_that_differ_are_no_ties() -> None:
    found = concentration(np.array([1e-12, 2e-12, 3e-12, 4e-12]))

    assert found == Concentration(2.0, 0.25, 0.0)


def hints_of(error: CalibrationError) -> tuple[str, ...]:
    """What would bring a judge closer whose scores are further from raters than a rater's."""
    best: Any = SimpleNamespace(analysis=SimpleNamespace(calibration=error))
    evidence: Any = SimpleNamespace(
        bar=0.5, correlation=SimpleNamespace(value=0.6), on_scale=True, scores_like_a_rater=False,
        ranks_like_a_rater=True,
    )  # fmt: skip
    criterion: Any = SimpleNamespace(options=SimpleNamespace(level="summary", over="documents"))
    return _hints(criterion, best, evidence)


@pins("CALIBRATION_GAIN", {0.749: True, 0.75: False, 0.751: False})
def test_a_map_that_saves_a_quarter_of_the_error_is_worth_a_hint(
    value: float, expected: bool
) -> None:
    assert bool(hints_of(CalibrationError(1.0, value, 5, constant=0.9))) is expected


def test_no_map_is_recommended_that_comes_no_nearer_than_the_best_constant() -> None:
    assert hints_of(CalibrationError(1.0, 0.4, 5, constant=0.4)) == ()
