"""Tie-calibrated accuracy, equal to mt-metrics-eval's.

tests/data/mt_metrics_eval.json holds made-up scores of segments and what mt-metrics-eval (commit
`68a481a`, Apache 2.0) computes from them: `KendallWithTiesOpt(…, "acc23", average_by="item",
sample_rate=1.0)`.
"""

import json
from typing import Any

import numpy as np
import pytest

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


@pytest.mark.parametrize("case", CASES, ids=[case["kind"] for case in CASES])
def test_tie_calibrated_accuracy_is_theirs(case: Case) -> None:
    outputs, human, *judges = sides(case)

    found = [tie_calibrated_accuracy(outputs, human, judge) for judge in judges]

    values = [one.calibrated.value for one in found]
    assert values == pytest.approx(case["tie_calibrated"], abs=1e-6)
    assert [one.epsilon for one in found] == pytest.approx(case["epsilons"], abs=1e-6)
