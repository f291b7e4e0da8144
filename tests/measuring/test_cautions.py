"""`geval.measure` says what its numbers leave unsaid."""

import json
from pathlib import Path
from typing import Any

import numpy as np

import geval
from tests.measuring.conftest import written

DOCUMENTS, SYSTEMS = 30, 5
PEOPLE = ("ann", "bob", "cyd")


def outputs(score: Any) -> list[dict[str, Any]]:
    """Ratings of three people who say 3 or 4, once 1 and 5, and a judge's `score(mean, system)`."""
    rows = []
    for document in range(DOCUMENTS):
        for system in range(SYSTEMS):
            truth = {(20, 0): 1, (20, 1): 5}.get((document, system), 3 + (system == document % 5))
            ratings = {name: float(truth) for name in PEOPLE}
            name = {"doc_id": f"d{document:02}", "system_id": f"s{system}"}
            rows.append(name | ratings | {"judge": score(truth, system)})
    return rows


def measured(score: Any) -> geval.Measurement:
    return geval.measure(outputs(score), human=[*PEOPLE], judge=["judge"], criterion="coherence")


def test_a_judge_that_gives_every_output_the_same_score_is_read_with_care() -> None:
    result = measured(lambda _truth, _system: 3.0)

    assert [caution.about for caution in result.cautions] == ["judge"]
    assert result.cautions[0].criterion == "coherence"
    assert f"Caution: {result.cautions[0].text}" in str(result)


def test_outputs_without_a_text_are_not_short(tmp_path: Path) -> None:
    rows = outputs(lambda truth, system: np.clip(truth - 1.5 * (system == 4), 1, 5))
    texts = [
        {name: row[name] for name in ("doc_id", "system_id")}
        | {"source": "Q?", "output": "word " * (5 + at % 3)}
        for at, row in enumerate(rows)
    ]
    without = [row for row in texts if row["system_id"] != "s4"]
    files = written(
        tmp_path,
        {
            "outputs.jsonl": "\n".join(map(json.dumps, without)),
            "ratings.csv": "doc_id,system_id,criterion,annotator,score\n" + "\n".join(
                f"{row['doc_id']},{row['system_id']},coherence,{name},{row[name]}"
                for row in rows for name in PEOPLE
            ),
            "scores.csv": "doc_id,system_id,criterion,judge,score\n" + "\n".join(
                f"{row['doc_id']},{row['system_id']},coherence,judge,{row['judge']}"
                for row in rows
            ),
        },
    )  # fmt: skip

    criterion = geval.measure(files).report.criteria[0]

    (length,) = [null for null in criterion.nulls if null.name == "length"]
    assert length.correlation.value is not None
    assert abs(length.correlation.value) < 0.2
