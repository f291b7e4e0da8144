"""Rows of several kinds in one file, as in a dataset of outputs and their ratings: each is
recognised by its names, and nothing is asked."""

import json
from pathlib import Path
from typing import Any

import geval
from geval.files.preview import Preview, preview_file

OUTPUT = {"doc_id": "d", "system_id": "s", "source": "When?", "output": "At 8."}
RATING = {"doc_id": "d", "system_id": "s", "criterion": "clarity", "annotator": "ann", "score": 4}
SCORE = {"doc_id": "d", "system_id": "s", "criterion": "clarity", "judge": "gpt", "score": 3.5}


def previewed(path: Path, rows: list[dict[str, Any]]) -> Preview:
    path.write_text("\n".join(map(json.dumps, rows)))
    return preview_file(path, path.name)


def test_they_are_named_and_no_column_is_guessed(tmp_path: Path) -> None:
    preview = previewed(tmp_path / "all.jsonl", [OUTPUT, RATING, SCORE])

    assert preview.structure == "outputs, ratings, scores of judges"
    assert (preview.guess, preview.questions) == ({}, ())


def test_they_are_measured_as_what_they_are(tmp_path: Path) -> None:
    rows = [
        each | {"doc_id": f"d{number}"} for number in range(4) for each in (OUTPUT, RATING, SCORE)
    ]
    previewed(tmp_path / "all.jsonl", rows)

    (criterion,) = geval.measure(tmp_path / "all.jsonl").criteria
    assert (criterion.criterion, criterion.outputs, criterion.raters) == ("clarity", 4, 1)
