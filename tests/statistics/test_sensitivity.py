"""Effects of probes: equal to plain formulas, found where planted, rarely where not."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from benchmarks.defects import FINDS, found_in
from evaluations.statistics.layout import Outputs
from evaluations.statistics.sensitivity import Finding, sensitivity
from evaluations.statistics.significance import holm

OUTPUTS = Outputs.full(12, 1)
RNG = np.random.default_rng(1)
PLAIN = RNG.normal(3, 1, (12, 2))


def of(found: list[Finding], name: str) -> Finding:
    return next(one for one in found if one.name == name)


def test_with_one_output_a_document_it_is_the_paired_t_test() -> None:
    padded = PLAIN.mean(axis=1) + RNG.normal(0.5, 1, 12)

    found = of(sensitivity(OUTPUTS, PLAIN, {"padded": padded}), "padded")

    gap = padded - PLAIN.mean(axis=1)
    test = stats.ttest_1samp(gap, 0)
    assert found.value == pytest.approx(gap.mean())
    assert found.p == pytest.approx(test.pvalue)
    assert found.interval is not None
    assert found.interval.ends == pytest.approx(tuple(test.confidence_interval(0.95)))


def test_p_values_are_adjusted_over_all_of_a_study() -> None:
    changed = {name: PLAIN.mean(axis=1) + RNG.normal(0.5, 1, 12) for name in ("a", "b", "c")}

    found = sensitivity(OUTPUTS, PLAIN, changed, human=RNG.normal(3, 1, 12))

    tested = [one.p for one in found if one.p is not None]
    assert [one.name for one in found] == ["a", "b", "c", "repeated", "severity", "spread", "noise"]
    assert_allclose([one.adjusted for one in found], holm(tested))


def test_checks_are_plain_ratios() -> None:
    human = RNG.normal(3, 1, 12)

    found = sensitivity(OUTPUTS, PLAIN, {}, human)

    judge = PLAIN.mean(axis=1)
    assert of(found, "severity").value == pytest.approx((judge - human).mean())
    assert of(found, "spread").value == pytest.approx(judge.std() / human.std())
    within = ((PLAIN[:, 1] - PLAIN[:, 0]) ** 2 / 2).mean()
    between = 2 * judge.var(ddof=1)
    assert of(found, "noise").value == pytest.approx((between - within) / (between + within))


def test_outputs_of_a_document_that_move_together_are_not_taken_for_many() -> None:
    outputs, shared = Outputs.full(12, 20), np.repeat(RNG.normal(0.4, 1, 12), 20)
    plain = np.repeat(RNG.normal(3, 1, (240, 1)), 2, axis=1)

    found = of(sensitivity(outputs, plain, {"padded": plain[:, 0] + shared}), "padded")

    assert found.p == pytest.approx(stats.ttest_1samp(shared[::20], 0).pvalue)


def test_the_same_scores_everywhere_are_no_finding_and_a_constant_step_is() -> None:
    same = np.repeat(PLAIN[:, :1], 2, axis=1)

    found = sensitivity(OUTPUTS, same, {"none": same[:, 0], "all": same[:, 0] + 1})

    assert [one.is_found for one in found] == [False, True, False, False]


def test_few_documents_and_missing_scores_have_a_reason() -> None:
    holes = np.where(np.arange(12)[:, None] < 4, np.nan, PLAIN)

    found = of(sensitivity(OUTPUTS, holes, {"padded": holes[:, 0]}), "padded")

    assert (found.value, found.reason) == (None, "8 documents count; 10 are needed")


def test_planted_defects_are_found_and_nothing_where_there_is_none() -> None:
    for defect, finds in FINDS.items():
        assert np.mean([finds in found_in(defect, seed) for seed in range(10)]) >= 0.9
    assert np.mean([bool(found_in("", seed)) for seed in range(30)]) <= 0.1
