"""Which of two judges gives the expert's verdict more often, at every door."""

from typing import Any

import numpy as np
import pytest

import geval
from geval.statistics.arrays import Outputs
from geval.statistics.paired_labels import paired_labels


def verdicts(errors: int, other_errors: int, *, labels: tuple[str, str] = ("pass", "fail")) -> Any:
    """Answers of which one judge gets some wrong and another others."""
    rows = []
    for number in range(200):
        human, other = labels if number % 4 else labels[::-1]
        rows.append(
            {
                "id": f"q{number}",
                "answer": f"Answer {number}",
                "human": human,
                "near": other if number < errors else human,
                "far": other if 100 <= number < 100 + other_errors else human,
            }
        )
    return rows


@pytest.mark.parametrize(
    ("errors", "other_errors", "better"), [(10, 60, "near"), (60, 10, "far"), (30, 30, "")]
)
@pytest.mark.parametrize("labels", [("pass", "fail"), ("billing", "refund")])
def test_the_judge_that_is_right_more_often_is_named(
    errors: int, other_errors: int, better: str, labels: tuple[str, str]
) -> None:
    rows = verdicts(errors, other_errors, labels=labels)
    options: dict[str, Any] = {} if labels[0] == "pass" else {"labels": labels}
    measured = geval.measure(rows, human="human", judge=["near", "far"], document="id", **options)

    (compared,) = geval.compare(measured, "near", "far")

    assert compared.labels is not None
    assert (compared.labels.only_first, compared.labels.only_second) == (other_errors, errors)
    assert compared.difference == pytest.approx((other_errors - errors) / 200)
    assert (compared.better, compared.documents) == (better, 200)
    assert f"only near is right on {other_errors} of 200" in str(compared)


def test_the_interval_knows_how_judges_err_together() -> None:
    outputs = Outputs(np.arange(200), np.zeros(200, dtype=int), 200, 1)
    human = np.ones(200)
    first, second = human.copy(), human.copy()
    first[:40], second[:44] = 0, 0
    together = paired_labels(outputs, human, first, second)
    second = human.copy()
    second[100:144] = 0
    apart = paired_labels(outputs, human, first, second)

    assert together.difference == apart.difference == pytest.approx(0.02)
    assert (together.both, together.neither, apart.neither) == (156, 40, 0)
    assert (together.interval.width or 1) < 0.6 * (apart.interval.width or 0)
