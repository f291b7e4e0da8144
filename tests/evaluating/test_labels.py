"""`geval.evaluate` with labels without an order: names in every result, and no mean of numbers."""

import csv
import json
from pathlib import Path
from typing import Any

import geval
from tests.decision_server import decision_server
from tests.evaluating.conftest import Evaluate

KINDS = ["wrong", "rude", "slow"]
ROWS = [
    {"doc": f"d{at}", "answer": f"It is {KINDS[1 + at % 2]}.", "person": KINDS[1 + at % 2]}
    for at in range(6)
]


def answer(body: dict[str, Any]) -> list[dict[str, Any]]:
    shares = [
        {"value": each["value"], "probability": float(f"is {each['value']}" in body["input"])}
        for each in body["questions"][0]["choices"]
    ]
    return [{"type": "choice", "probabilities": shares}]


def test_labels_are_written_by_name_and_come_back(evaluate: Evaluate, tmp_path: Path) -> None:
    with decision_server(answer) as (base_url, _asked):
        result = evaluate(
            ROWS, kind="decision", base_url=base_url, labels=KINDS, human="person", document="doc",
            system="", output="answer", repeats=2,
        )  # fmt: skip

    assert "(decision, rude 6, slow 6)" in result.summary
    assert [each["label"] for each in result.to_records()[:2]] == ["rude", "slow"]
    assert json.loads(result.to_json())["labels"] == KINDS
    assert result.measurement.criteria[0].accuracy == 1
    path = tmp_path / "scores.csv"
    result.to_csv(path)
    with path.open() as file:
        written = [(row["doc_id"], row["score"], row["repeat"]) for row in csv.DictReader(file)]
    tables = result.to_tables()
    pushed = [(row["doc_id"], row["score"], row["repeat"]) for row in tables["scores"]]
    assert written == pushed
    assert written[0] == ("d0", "rude", "1")
    assert [row["score"] for row in tables["ratings"]] == [row["person"] for row in ROWS]
    again = geval.measure([*tables["ratings"], *tables["scores"]], labels=KINDS)
    assert again.criteria[0].accuracy == 1
