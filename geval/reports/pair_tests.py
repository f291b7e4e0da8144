"""Test which of two judges orders pairs of systems and of outputs more like people."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from geval.reports.data import ReportData
from geval.statistics.accuracy_tests import (
    ORDERINGS,
    SIGNS,
    AccuracyTest,
    documents_that_count,
    soft_pairwise_test,
    tie_calibrated_test,
)
from geval.texts.numbers import p_value, signed
from geval.texts.subjects import CriterionLike

# The most outputs, as each of a thousand orderings processes all of them.
MOST_OUTPUTS = 20_000
TOO_MANY = f"there are more than {MOST_OUTPUTS:,} outputs; choose fewer documents by a filter"
NO_SCORES = "one of them has no scores"


@dataclass(frozen=True)
class JudgePairTest:
    """Two judges on a criterion: soft pairwise accuracy, over pairs of systems, and tie-calibrated
    accuracy, over pairs of outputs of a document."""

    criterion: str
    soft: AccuracyTest
    calibrated: AccuracyTest


@dataclass(frozen=True)
class PairTests:
    """The tests on every criterion."""

    criteria: tuple[JudgePairTest, ...]


def pair_tests(
    data: ReportData, criteria: Iterable[CriterionLike], first: int, second: int, *, seed: int = 0
) -> Iterable[JudgePairTest]:
    """Compare two judges on criteria.

    Args:
        first, second: the judges' ids.
        seed: the seed of the random orderings.
    """
    rng = np.random.default_rng(seed)
    for criterion in criteria:
        yield _on_criterion(data, criterion, first, second, rng)


def _on_criterion(
    data: ReportData, criterion: CriterionLike, first: int, second: int, rng: np.random.Generator
) -> JudgePairTest:
    scores, other = (data.judges.get((criterion.pk, judge)) for judge in (first, second))
    if scores is None or other is None:
        return _without(criterion, NO_SCORES)
    human = data.humans[criterion.pk].mean
    if np.count_nonzero(~np.isnan(human + scores + other)) > MOST_OUTPUTS:
        return _without(criterion, TOO_MANY)
    outputs = data.outputs_on(criterion.pk)
    documents = documents_that_count(outputs, human, scores, other)
    signs = rng.choice((1.0, -1.0), (SIGNS, documents))
    swaps = rng.integers(0, 2, (ORDERINGS, documents, data.outputs.systems), dtype=np.int8)
    soft = soft_pairwise_test(outputs, human, scores, other, signs=signs, swaps=swaps.astype(bool))
    calibrated = tie_calibrated_test(outputs, human, scores, other, rng=rng)
    return JudgePairTest(criterion.name, soft, calibrated)


def _without(criterion: CriterionLike, reason: str) -> JudgePairTest:
    none = AccuracyTest(None, None, None, None, reason=reason)
    return JudgePairTest(criterion.name, none, none)


def pair_tests_json(tests: PairTests, seen: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Return the tests for the API, by criterion.

    Args:
        seen: as returned by `seen_by_search`.
    """
    return {
        test.criterion: {
            "soft_pairwise_accuracy": _json(test.soft),
            "tie_calibrated_accuracy": _json(test.calibrated),
            **({"seen_by_search": [*seen[test.criterion]]} if seen.get(test.criterion) else {}),
        }
        for test in tests.criteria
    }


def _json(test: AccuracyTest) -> dict[str, Any]:
    return {
        "first": test.first,
        "second": test.second,
        "difference": test.difference,
        "p": test.p,
        "p_better": test.p_better,
        "orderings": test.orderings,
        "reason": test.reason,
    }


def accuracy_in_words(accuracy: AccuracyTest) -> str:
    """Return both accuracies, and the result of the test of their difference, in words."""
    if accuracy.first is None or accuracy.second is None or accuracy.p is None:
        return f"–, {accuracy.reason}"
    return (
        f"{accuracy.first:.3f} and {accuracy.second:.3f}, second less first"
        f" {signed(accuracy.difference or 0.0, 3)}, p {p_value(accuracy.p)}"
        f" (that the second is better: {p_value(accuracy.p_better or 0.0)})"
    )
