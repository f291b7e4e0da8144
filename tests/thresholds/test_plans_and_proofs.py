"""What plans, searches, looks, studies and certificates take."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy import stats

from annotations.planning import selection
from annotations.views import plans as plan_pages
from geval.evaluators.base import Corpus, Item
from geval.evaluators.ensemble import Ensemble
from geval.improving.ground import ImproveError
from geval.improving.promises import parse_promise
from geval.improving.search import check_size
from geval.llm.item_texts import Texts
from geval.llm.scoring import Scored
from geval.reports import requirements
from geval.reports.requirements import RequiredFigure, Requirement, check
from geval.statistics.anytime import expected_half_width
from geval.statistics.held_out_test import confidence_of, documents_for
from geval.statistics.planning import _least, for_any_time, for_power, for_width, power_of
from geval.statistics.projection import half_width_with, projections
from geval.statistics.resampling import Interval
from geval.statistics.risk_control import upper_intraclass
from tests.thresholds.three_points import pins

PILOT = np.random.default_rng(11).normal(0.3, 0.3, 60)


@pins("PILOT_DOCUMENTS", {9: False, 10: True, 11: True})
def test_documents_of_a_pilot(value: int, expected: bool) -> None:
    pilot = np.append(PILOT[:value], np.nan)

    assert (for_width(pilot, 0.1).likely is not None) is expected
    assert (for_power(pilot, 0.1).likely is not None) is expected
    assert (for_any_time(pilot, 0.3, lowest=-1, highest=1).likely is not None) is expected


@pins("PLAN_DOCUMENTS", {99_999: 99_999, 100_000: 100_000, 100_001: None})
def test_a_plan_of_more_documents_is_not_made(value: int, expected: int | None) -> None:
    assert _least(lambda count: count >= value, 3) == expected


@pins("POWER", {0.79: False, 0.8: True, 0.81: False})
def test_the_power_of_a_plan(value: float, expected: bool) -> None:
    likely = for_power(PILOT, 0.01).likely
    effect = 0.01 / PILOT.std(ddof=1)

    assert likely
    assert (power_of(effect, likely) >= value > power_of(effect, likely - 1)) is expected


@pins("PROMISE", {0.91: False, 0.92: True, 0.93: False})
def test_promised_documents_are_enough_in_nine_of_ten_cases(value: float, expected: bool) -> None:
    half = 0.1

    def width(documents: int) -> float:
        return half_width_with(half, documents=60, wanted=documents, assurance=value)

    for found in projections(Interval(0.0, 2 * half), documents=60, ratings_per_document=3):
        promised = 60 + found.promised_documents
        assert (width(promised) <= found.half_width < width(promised - 1)) is expected


@pins("PROMISE_AT_ANY_TIME", {0.96: False, 0.97: True, 0.98: False})
def test_promises_of_a_campaign_that_closes_itself(value: float, expected: bool) -> None:
    promised = for_any_time(PILOT, 0.04, lowest=-1, highest=1).promised
    spread = PILOT.std(ddof=1) / 2

    def width(documents: int) -> float:
        times = stats.f.ppf(value, documents, 59)
        return 2 * expected_half_width(spread * np.sqrt(times), documents)

    assert promised
    assert (width(promised) <= 0.04 < width(promised - 1)) is expected


@pins("PROMISE_DOCUMENTS", {59: True, 60: False, 61: False})
def test_a_plan_from_few_documents_says_to_plan_again(
    monkeypatch: pytest.MonkeyPatch, value: int, expected: bool
) -> None:
    monkeypatch.setattr(plan_pages, "_goal", lambda *_: {})
    monkeypatch.setattr(plan_pages, "_here", lambda *_: True)
    found: Any = SimpleNamespace(rows=(), cheapest=None, difference=0.1, documents=value)
    aim = SimpleNamespace(criterion=None, sides=())
    asked: Any = SimpleNamespace(aim=aim, difference=None)
    project: Any = SimpleNamespace(documents=SimpleNamespace(count=lambda: 5))

    assert plan_pages._advice(found, asked, project)["is_small"] is expected


@pins("ACTIVE_OUTPUTS", {29: "disagreement", 30: "errors", 31: "errors"})
def test_rated_outputs_from_which_errors_are_predicted(
    monkeypatch: pytest.MonkeyPatch, value: int, expected: str
) -> None:
    rated = np.where(np.arange(50) < value, 3.0, np.nan)
    monkeypatch.setattr(selection, "_values", lambda *_: rated)
    monkeypatch.setattr(selection, "disagreement", lambda *_: "disagreement")
    monkeypatch.setattr(selection, "predicted_errors", lambda *_: "errors")
    monkeypatch.setattr(selection, "withheld_documents", lambda _project: [])
    outputs: Any = SimpleNamespace(systems=np.zeros(50), documents=np.arange(50))
    campaign: Any = SimpleNamespace(project_id=1)

    assert selection.likely_errors(campaign, outputs)[0] == expected


@pins("PROOF_ERROR", {0.049: False, 0.05: True, 0.051: False})
def test_all_looks_share_one_error(value: float, expected: bool) -> None:
    assert (confidence_of(1, 1) == 1 - value) is expected
    assert (confidence_of(5, 2) == 1 - value / 10) is expected


def is_searched(training: int, locked: int) -> bool:
    ground: Any = SimpleNamespace(
        training=range(training),
        locked=range(locked),
        criterion=SimpleNamespace(name="c"),
        judge=SimpleNamespace(label="j"),
    )
    try:
        check_size(ground)
    except ImproveError:
        return False
    return True


@pins("TRAINING_DOCUMENTS", {19: False, 20: True, 21: True})
def test_documents_to_learn_from(value: int, expected: bool) -> None:
    assert is_searched(value, 10) is expected


@pins("LOCKED_DOCUMENTS", {9: False, 10: True, 11: True})
def test_documents_to_prove_on(value: int, expected: bool) -> None:
    assert is_searched(20, value) is expected
    assert (documents_for(1e-9, 1.0, confidence=0.95) <= value) is expected


@pins("AFFORDABLE_DOCUMENTS", {4_999: True, 5_000: True, 5_001: False})
def test_a_requirement_that_takes_too_many_documents_is_not_decided(
    monkeypatch: pytest.MonkeyPatch, value: int, expected: bool
) -> None:
    monkeypatch.setattr(requirements, "_more_documents", lambda *_: value)
    low = Requirement("spearman.summary.low", ">=", 0.45)

    found = check(low, RequiredFigure(0.4, estimate=0.5, units=100))

    assert found.more_documents == (value if expected else None)
    assert ("no affordable number" in found.reason) is not expected


@pins("BLEND_OUTPUTS", {9: False, 10: True, 11: True})
def test_rated_outputs_for_a_blend(value: int, expected: bool) -> None:
    scores = np.random.default_rng(1).normal(size=(2, 30))
    of_judges = {
        (name, "c"): dict(enumerate(row.tolist())) for name, row in zip("ab", scores, strict=True)
    }
    corpus = Corpus(
        scores=of_judges,
        ratings={"c": {at: float(at % 5) for at in range(value)}},
        document_of={at: at for at in range(30)},
    )
    ensemble = Ensemble({"judges": "a, b", "method": "blend"})
    ensemble.look(corpus)

    (found,) = ensemble.score([Item(Texts("s", "o"), "c", "", 3)])

    assert isinstance(found, Scored) is expected


@pins("PROMISED_ERRORS", {0.049: True, 0.05: True, 0.051: False})
def test_the_errors_that_a_policy_promises(value: float, expected: bool) -> None:
    promise = parse_promise("few false passes")

    assert promise.bound is not None
    assert (value <= promise.bound) is expected


@pins("ALIKE_ERROR", {0.09: False, 0.1: True, 0.11: True})
def test_how_alike_errors_of_a_document_may_be(value: float, expected: bool) -> None:
    cluster, values = np.repeat(np.arange(10), 2), np.tile([0.0, 1.0, 1.0, 1.0], 5)
    means = values.reshape(10, 2).mean(axis=1)
    ratio = 2 * means.var(ddof=1) / (values.reshape(10, 2).var(axis=1, ddof=1).mean())
    least = ratio / stats.f.ppf(value, 9, 10)

    is_at_most = upper_intraclass(cluster, values) >= (least - 1) / (least + 1) - 1e-9
    assert bool(is_at_most) is expected
