"""Outputs with their ratings in the forms of Label Studio and Argilla, which load here again. Pure.

People's ratings are annotations and responses; judges' scores predictions and suggestions.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import orjson

from evaluations.ratings.exported import ExportedOutput, Given

# What the text that is rated is called there.
RATED = "output"


def label_studio_task(output: ExportedOutput) -> dict[str, Any]:
    """A task: `data` has our columns, each annotation the ratings of one person."""
    people = dict.fromkeys(who for _, who, _ in output.ratings)
    judges = dict.fromkeys(who for _, who, _ in output.scores)
    return {
        "data": output.columns,
        "annotations": [
            {"completed_by": {"email": who}, "result": _results(output.ratings, who)}
            for who in people
        ],
        "predictions": [
            {"model_version": who, "result": _results(output.scores, who)} for who in judges
        ],
    }


def _results(given: Iterable[Given], author: str) -> list[dict[str, Any]]:
    return [
        {"from_name": criterion, "to_name": RATED, "type": "number", "value": {"number": points}}
        for criterion, who, points in given
        if who == author
    ]


def argilla_record(output: ExportedOutput) -> dict[str, Any]:
    """A record: the texts are its fields, names its metadata. A question has one suggestion: that
    of the first judge."""
    texts = ("source", "output", "context", "turns")
    responses: dict[str, list[dict[str, Any]]] = {}
    for criterion, who, points in output.ratings:
        responses.setdefault(criterion, []).append({"value": points, "user_id": who})
    suggestions: dict[str, dict[str, Any]] = {}
    for criterion, who, points in output.scores:
        suggestions.setdefault(criterion, {"value": points, "agent": who})
    columns = output.columns.items()
    return {
        "id": f"{output.columns['doc_id']} {output.columns['system_id']}",
        "fields": {name: value for name, value in columns if name in texts},
        "metadata": {name: value for name, value in columns if name not in texts},
        "responses": responses,
        "suggestions": suggestions,
    }


def as_json_list(records: Iterable[dict[str, Any]]) -> Iterator[bytes]:
    """One JSON list, an element per line."""
    separator = b"[\n"
    for record in records:
        yield separator + orjson.dumps(record)
        separator = b",\n"
    yield b"\n]\n" if separator[:1] == b"," else b"[]\n"
