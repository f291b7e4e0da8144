"""`geval.rate`: the true pass rate or mean of each system from few labels."""

from typing import Any

import numpy as np
import pytest

import geval


def table(labels: int = 120, judges: tuple[str, ...] = ("judge",)) -> list[dict[str, Any]]:
    """Answers of two weeks, 70 and 90 % of which pass; the judge fails some good ones."""
    rng = np.random.default_rng(1)
    rows = []
    for number in range(1200):
        week = number % 2
        truth = rng.random() < (0.7, 0.9)[week]
        row = {"id": f"q{number}", "week": f"week {week}", "human": ""}
        row |= {judge: "pass" if truth and rng.random() < 0.8 else "fail" for judge in judges}
        if number < labels:
            row["human"] = "pass" if truth else "fail"
        rows.append(row)
    return rows


def test_a_rate_is_corrected_for_what_the_judge_gets_wrong() -> None:
    rates = geval.rate(table(), by="week", human="human", judge="judge", document="id")

    first, second = rates.rates
    for rate, truth in ((first, 0.7), (second, 0.9)):
        assert rate.judged == pytest.approx(truth * 0.8, abs=0.05)
        assert rate.low
        assert rate.high
        assert rate.low < truth < rate.high
        assert (rate.outputs, rate.labelled) == (600, 60)
        assert rate.more
    assert str(rates).startswith("quality, by judge\n  week 0: 0.")
    assert "60 of 600 labelled" in str(rates)
    assert rates.to_records()[0]["by"] == "week 0"


def test_of_a_scale_it_is_the_mean() -> None:
    rows = [row | {"human": 4 if row["human"] else "", "judge": 1 + n % 5}
            for n, row in enumerate(table())]  # fmt: skip
    rows[0]["human"] = 2

    rates = geval.rate(rows, by="week", human="human", judge="judge", document="id")

    assert rates.rates[1].rate == pytest.approx(4, abs=0.1)


def test_without_labels_of_a_system_there_is_no_rate() -> None:
    rows = [row | {"human": row["human"] if row["week"] == "week 0" else ""} for row in table()]

    _first, second = geval.rate(rows, by="week", human="human", judge="judge", document="id").rates

    assert second.rate is None
    assert "no rate, as people labelled none" in str(second)
