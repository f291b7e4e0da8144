"""Tests of soft pairwise and tie-calibrated accuracy, equal to mt-metrics-eval's.

tests/data/mt_metrics_eval.json holds made-up scores of segments and what mt-metrics-eval (commit
`68a481a`, Apache 2.0) computes from them: `KendallWithTiesOpt(…, "acc23", average_by="item",
sample_rate=1.0)` and `PairwisePermutationSigDiff` with the numpy seed that is given,
`PairwiseConfidenceError`, and `PermutationSigDiff` with it as the correlation.
"""

import json
from typing import Any

import numpy as np
import pytest

from geval.statistics.accuracy_tests import (
    AccuracyTest,
    documents_that_count,
    soft_pairwise_test,
    tie_calibrated_test,
)
from geval.statistics.arrays import Outputs
from geval.statistics.pairwise import tie_calibrated_accuracy
from geval.statistics.types import FloatArray
from tests.conftest import CHECKOUT

CASES = json.loads((CHECKOUT / "tests/data/mt_metrics_eval.json").read_text())
Case = dict[str, Any]


def table(case: Case, name: str) -> FloatArray:
    """Scores in the order of documents; theirs are in that of systems."""
    scores = np.array(case[name], dtype=float)
    return scores.reshape(case["systems"], case["segments"]).T.ravel()


def sides(case: Case) -> tuple[Outputs, FloatArray, FloatArray, FloatArray]:
    outputs = Outputs.full(case["segments"], case["systems"])
    return outputs, table(case, "human"), table(case, "first"), table(case, "second")


def their_signs(documents: int) -> FloatArray:
    """The flips of `pce.compute_pairwise_p_values`, by its default seed."""
    drawn = np.random.default_rng(4).random(size=(1000, documents), dtype=np.float32)
    return 2.0 * np.rint(drawn) - 1


def their_swaps(case: Case) -> np.ndarray:
    """The weights that `PermutationSigDiff` draws, by ordering, segment and system."""
    test = case["soft_pairwise_test"]
    drawn = np.random.RandomState(test["seed"])
    size = (case["systems"], case["segments"])
    each = [drawn.binomial(1, 0.5, size[0] * size[1]) for _ in range(test["orderings"])]
    # The first mixture of theirs has the first judge where the weight is 1.
    return np.array([one.reshape(size).T == 0 for one in each])


def their_pairs(case: Case) -> np.ndarray:
    """The weights that `PairwisePermutationSigDiff` draws for pairs of a segment."""
    test = case["tie_calibrated_test"]
    drawn = np.random.RandomState(test["seed"])
    human = table(case, "human").reshape(case["segments"], -1)
    sizes = [n for n in (~np.isnan(human)).sum(axis=1) if n]
    return np.array(
        [
            np.concatenate([drawn.binomial(1, 0.5, (n, n))[np.triu_indices(n, k=1)] for n in sizes])
            for _ in range(test["orderings"])
        ]
    )


@pytest.mark.parametrize("case", CASES, ids=[case["kind"] for case in CASES])
def test_tie_calibrated_accuracy_is_theirs(case: Case) -> None:
    outputs, human, *judges = sides(case)

    found = [tie_calibrated_accuracy(outputs, human, judge) for judge in judges]

    values = [one.calibrated.value for one in found]
    assert values == pytest.approx(case["tie_calibrated"], abs=1e-6)
    assert [one.epsilon for one in found] == pytest.approx(case["epsilons"], abs=1e-6)


def test_its_test_is_theirs() -> None:
    """Documents have different numbers of outputs, so that draws hardly ever tie."""
    (case,) = (one for one in CASES if "tie_calibrated_test" in one)
    outputs, human, first, second = sides(case)

    found = tie_calibrated_test(outputs, human, first, second, swaps=their_pairs(case))

    expected = case["tie_calibrated_test"]
    assert [found.first, found.second] == pytest.approx(case["tie_calibrated"], abs=1e-6)
    assert found.difference == pytest.approx(expected["difference"], abs=1e-6)
    assert found.p_better == pytest.approx(expected["p_better"], abs=1e-6)


@pytest.mark.parametrize("kind", ["continuous", "rounded"])
def test_soft_pairwise_accuracy_is_theirs(kind: str) -> None:
    case = next(one for one in CASES if one["kind"] == kind)
    outputs, human, first, second = sides(case)
    swaps = np.zeros((1, case["segments"], case["systems"]), dtype=bool)

    found = soft_pairwise_test(
        outputs, human, first, second, signs=their_signs(case["segments"]), swaps=swaps
    )

    assert [found.first, found.second] == pytest.approx(case["soft_pairwise"], abs=1e-6)


def test_its_test_is_theirs_too() -> None:
    (case,) = (one for one in CASES if "soft_pairwise_test" in one)
    outputs, human, first, second = sides(case)

    found = soft_pairwise_test(
        outputs, human, first, second,
        signs=their_signs(case["segments"]), swaps=their_swaps(case),
    )  # fmt: skip

    expected = case["soft_pairwise_test"]
    assert found.difference == pytest.approx(expected["difference"], abs=1e-6)
    assert found.p_better == pytest.approx(expected["p_better"], abs=1e-6)


def of_noise(seed: int, *, better: float) -> AccuracyTest:
    """Two judges; the second has so much less noise."""
    rng = np.random.default_rng(seed)
    outputs, quality = Outputs.full(30, 5), rng.normal(size=150)
    first = quality + rng.normal(size=150)
    second = quality + rng.normal(size=150) * (1 - better)
    return tie_calibrated_test(outputs, np.round(quality), first, second, rng=rng, orderings=200)


def test_equal_judges_rarely_differ_and_a_better_one_is_found() -> None:
    equal = [of_noise(seed, better=0.0).p or 0 for seed in range(60)]

    assert np.mean(np.array(equal) <= 0.05) <= 0.12
    assert all((of_noise(seed, better=0.7).p or 1) <= 0.01 for seed in range(5))


def test_what_cannot_be_compared_has_a_reason() -> None:
    alone, one = Outputs.full(3, 1), np.array([1.0, 2.0, 3.0])
    signs, swaps = np.ones((1, 3)), np.zeros((1, 3, 1), dtype=bool)

    soft = soft_pairwise_test(alone, one, one, one, signs=signs, swaps=swaps)
    calibrated = tie_calibrated_test(alone, one, one, one)

    assert (soft.p, soft.reason) == (None, "fewer than two systems")
    assert (calibrated.p, calibrated.difference) == (None, None)
    assert documents_that_count(alone, one, one, one) == 0
