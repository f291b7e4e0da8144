"""Where each verdict begins, and how many spot checks it asks for."""

from types import SimpleNamespace

import numpy as np
import pytest

from geval.reports.verdicts.analysis import _far_off
from geval.reports.verdicts.expert import Required
from geval.reports.verdicts.verdict import Evidence, verdict_of
from geval.reports.words import spot_check_size
from geval.statistics.agreement import BehindARater
from geval.statistics.arrays import Outputs
from geval.statistics.null_judges import is_met
from geval.statistics.resampling import Interval
from geval.statistics.scales import Scale
from geval.statistics.shares import ShareEstimate, without_share
from geval.statistics.thresholds import EXPERT_KAPPA, EXPERT_SHARE, PASS_FAIL_OUTPUTS
from geval.statistics.types import Estimate
from geval.statistics.weighted_kappa import KappaEstimate, weighted_kappa
from tests.reports.test_verdicts import evidence as as_good_as_a_rater
from tests.thresholds.three_points import pins


def evidence(**changes: object) -> Evidence:
    """Of a judge as good as a rater, of which is known how good, with changes."""
    return as_good_as_a_rater(**({"behind": BehindARater(-0.03, 0.01, 99)} | changes))


@pins("VERDICT_OUTPUTS", {29: "early", 30: "stands", 31: "stands"})
def test_outputs_for_a_verdict(value: int, expected: str) -> None:
    assert verdict_of(evidence(outputs=value)) == expected


@pins("VERDICT_RATERS", {2: "early", 3: "stands", 4: "stands"})
def test_raters_for_a_verdict(value: int, expected: str) -> None:
    assert verdict_of(evidence(raters=value)) == expected


@pins("EXPERT_SHARE", {0.799: False, 0.8: True, 0.801: True})
def test_the_share_that_an_experts_labels_require(value: float, expected: bool) -> None:
    # Wilson's lower end of 0.9 is the value with so many outputs.
    effective = value * (1 - value) * (1.959963984540054 / (0.9 - value)) ** 2 * (1 + 1e-9)
    share = ShareEstimate(Estimate(0.9), Interval(value, 1), 100, effective, np.inf)

    side = Required(share, "fail", 100, 0.025, EXPERT_SHARE, PASS_FAIL_OUTPUTS, 0.5)
    assert side.is_shown is expected


@pins("EXPERT_KAPPA", {0.599: False, 0.6: True, 0.601: True})
def test_the_kappa_that_an_experts_ratings_require(value: float, expected: bool) -> None:
    error = (np.arctanh(0.9) - np.arctanh(value)) / 1.959963984540054 * (1 - 1e-9)
    kappa = KappaEstimate(Estimate(0.9), Interval(value, 1), 100, error, np.inf)

    assert Required(kappa, "label", 100, 0.025, EXPERT_KAPPA, 60, 0.0).is_shown is expected


@pins("EXPERT_LABELS", {59: False, 60: True, 61: True})
def test_labels_for_an_interval_of_weighted_kappa(value: int, expected: bool) -> None:
    rng = np.random.default_rng(0)
    people = rng.integers(1, 6, value).astype(float)
    judge = np.where(rng.random(value) < 0.8, people, 1.0)

    kappa = weighted_kappa(Outputs.full(value, 1), people, judge)

    assert (kappa.interval.low is not None) is expected


@pins("VERDICT_ALPHA", {0.199: "unreliable", 0.2: "stands", 0.201: "stands"})
def test_how_far_raters_have_to_agree(value: float, expected: str) -> None:
    assert verdict_of(evidence(alpha=Estimate(value))) == expected


@pins("VERDICT_SHARE", {0.49: "keep", 0.5: "spot", 0.51: "spot"})
def test_of_what_one_rater_reaches(value: float, expected: str) -> None:
    found = evidence(passes=False, ceiling=Estimate(1.0), in_place=Estimate(value))

    assert verdict_of(found) == expected


@pins("VERDICT_MARGIN", {0.099: True, 0.1: False, 0.101: False})
def test_how_far_behind_a_rater_a_judge_may_be(value: float, expected: bool) -> None:
    no_share = without_share("none")
    certain = SimpleNamespace(value=-value, error=0.0, reason="", low=lambda _confidence: -value)

    assert evidence(behind=certain).ranks_like_a_rater is expected
    side = Required(no_share, "fail", 40, 0.025, 0.8, 10, 0.5, beside=certain)
    assert side.is_shown is expected
    assert evidence().bar == pytest.approx(0.65 - 0.1)


@pins("VERDICT_ERROR", {0.0499: True, 0.05: True, 0.0501: False})
@pytest.mark.parametrize("compared", [1, 4])
def test_the_error_of_a_check_is_shared(value: float, expected: bool, compared: int) -> None:
    found = evidence(p_nearer=value / compared, compared=compared)

    assert found.beats_a_constant is expected


@pins("FAR_OFF", {0.2499: 0.0, 0.25: 0.0, 0.2501: 1.0})
def test_a_large_error_is_farther_than_a_quarter_of_the_scale(
    value: float, expected: float
) -> None:
    rated = np.full(4, 3.0)

    assert _far_off(Outputs.full(4, 1), rated, rated + 4 * value, Scale(1, 5)).value == expected


@pins("CHECK_WIDTH", {0.099: 99, 0.1: 97, 0.101: 95})
def test_spot_checks_show_a_share_within_ten_points(value: float, expected: int) -> None:
    needed = int(np.ceil(1.96**2 * 0.25 / value**2))

    assert needed == expected or value != 0.1
    assert (spot_check_size(0.5) == needed) is (value == 0.1)


@pins("NULL_CHANCE", {0.04: False, 0.05: False, 0.06: True})
def test_shuffles_that_meet_a_claim(value: float, expected: bool) -> None:
    assert is_met([True] * round(100 * value) + [False] * round(100 * (1 - value))) is expected
