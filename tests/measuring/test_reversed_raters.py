"""A rater whose scale is reversed is named; one who only clicks is not."""

from typing import Any

import numpy as np
import pytest

import geval
from geval.measuring.measurement import Measurement
from geval.statistics.agreement import raters_against_others
from geval.statistics.arrays import Outputs, Ratings


def ratings(*others: str, raters: int, outputs: int = 120) -> np.ndarray:
    """Ratings from 1 to 5 of raters who follow a quality, and of others: `reversed` or `random`."""
    random = np.random.default_rng(5)
    quality = random.integers(1, 6, outputs)

    def noisy() -> np.ndarray:
        return np.clip(quality + random.integers(-1, 2, outputs), 1, 5)

    kinds = {"reversed": lambda: 6 - noisy(), "random": lambda: random.integers(1, 6, outputs)}
    return np.array([noisy() for _ in range(raters)] + [kinds[other]() for other in others])


@pytest.mark.parametrize(
    ("others", "raters", "expected"),
    [((), 4, ()), (("random",), 3, ()), (("reversed",), 3, (3,)), (("reversed",), 8, (8,)),
     (("reversed",), 1, (0, 1))],
)  # fmt: skip
def test_who_rates_against_the_others_is_named(
    others: tuple[str, ...], raters: int, expected: tuple[int, ...]
) -> None:
    values = ratings(*others, raters=raters).astype(float)
    outputs = Outputs.full(values.shape[1], 1)

    assert raters_against_others(outputs, Ratings.of_table(values)) == expected


def measured(*others: str, raters: int) -> Measurement:
    values = ratings(*others, raters=raters)
    table: list[dict[str, Any]] = [
        {"id": number, "output": f"Answer {number}. ", "judge": int(row[0])}
        | {f"rater {rater}": int(value) for rater, value in enumerate(row)}
        for number, row in enumerate(values.T)
    ]
    return geval.measure(
        table, human=[f"rater {rater}" for rater in range(len(values))], judge="judge"
    )


def test_a_reversed_rater_is_the_reason_where_raters_do_not_agree() -> None:
    few, many = measured("reversed", raters=3), measured("reversed", raters=8)

    assert few.criteria[0].verdict == "unreliable"
    assert few.criteria[0].reason.startswith("rater 3 rates high what others rate low")
    assert many.criteria[0].verdict != "unreliable"
    assert "Caution: rater 8 rates high what others rate low" in str(many)
    assert "rates high" not in str(measured("random", raters=8))
