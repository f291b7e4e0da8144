"""Write outputs with their ratings in the formats of Label Studio and Argilla, which can be loaded
again. Pure.

People's ratings are annotations and responses; judges' scores predictions and suggestions. The
record of answers (skips, checks, history) is in `meta` and in the metadata `record`.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import orjson

from geval.statistics.scales import NOT_APPLICABLE

# The name of the rated text in these tools.
RATED = "output"
COMMENT = "comment"
Given = tuple[str, str, float | None]  # criterion, rater or judge, number; None for "n/a"


@dataclass(frozen=True)
class ExportedOutput:
    """An output in the columns that uploads accept, with judges' scores, people's ratings, their
    comments by person, and the record of all their answers about it."""

    columns: dict[str, Any]
    ratings: list[Given] = field(default_factory=list)
    scores: list[Given] = field(default_factory=list)
    comments: dict[str, str] = field(default_factory=dict)
    answers: list[dict[str, Any]] = field(default_factory=list)


def label_studio_task(output: ExportedOutput) -> dict[str, Any]:
    """Return a task: `data` has our columns, each annotation one person's ratings."""
    people = dict.fromkeys(who for _, who, _ in output.ratings)
    judges = dict.fromkeys(who for _, who, _ in output.scores)
    return {
        "data": output.columns,
        "annotations": [
            {
                "completed_by": {"email": who},
                "result": [*_results(output.ratings, who), *_comment(output, who)],
                **_seconds(output, who),
            }
            for who in people
        ],
        **({"meta": {"answers": output.answers}} if output.answers else {}),
        "predictions": [
            {"model_version": who, "result": _results(output.scores, who)} for who in judges
        ],
    }


def _comment(output: ExportedOutput, who: str) -> list[dict[str, Any]]:
    text = output.comments.get(who)
    value = {"text": [text]}
    named = {"from_name": COMMENT, "to_name": RATED, "type": "textarea", "value": value}
    return [named] if text else []


def _seconds(output: ExportedOutput, who: str) -> dict[str, float]:
    """Return the seconds of the newest answer, Label Studio's lead time."""
    timed = [
        record["seconds"]
        for record in output.answers
        if record["annotator"] == who and record["seconds"] is not None
    ]
    return {"lead_time": timed[-1]} if timed else {}


def _results(given: Iterable[Given], author: str) -> list[dict[str, Any]]:
    return [
        {"from_name": criterion, "to_name": RATED}
        | (
            {"type": "choices", "value": {"choices": [NOT_APPLICABLE]}}
            if points is None
            else {"type": "number", "value": {"number": points}}
        )
        for criterion, who, points in given
        if who == author
    ]


def argilla_record(output: ExportedOutput) -> dict[str, Any]:
    """Return a record: its fields are the texts, its metadata the names. A question has one
    suggestion: the first judge's."""
    texts = ("source", "output", "context", "turns")
    responses: dict[str, list[dict[str, Any]]] = {}
    for criterion, who, points in output.ratings:
        responses.setdefault(criterion, []).append({"value": _written(points), "user_id": who})
    for who, text in output.comments.items():
        responses.setdefault(COMMENT, []).append({"value": text, "user_id": who})
    suggestions: dict[str, dict[str, Any]] = {}
    for criterion, who, points in output.scores:
        suggestions.setdefault(criterion, {"value": _written(points), "agent": who})
    columns = output.columns.items()
    metadata = {name: value for name, value in columns if name not in texts}
    if output.answers:
        # Argilla's metadata cannot be nested.
        metadata["record"] = orjson.dumps(output.answers).decode()
    return {
        "id": f"{output.columns['doc_id']} {output.columns['system_id']}",
        "fields": {name: value for name, value in columns if name in texts},
        "metadata": metadata,
        "responses": responses,
        "suggestions": suggestions,
    }


def _written(points: float | None) -> float | str:
    return NOT_APPLICABLE if points is None else points


def as_json_list(records: Iterable[dict[str, Any]]) -> Iterator[bytes]:
    """Return a JSON list with one element per line."""
    separator = b"[\n"
    for record in records:
        yield separator + orjson.dumps(record)
        separator = b",\n"
    yield b"\n]\n" if separator[:1] == b"," else b"[]\n"
