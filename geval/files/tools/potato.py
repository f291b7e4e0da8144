"""Annotations of Potato: one person's labels of an instance, in JSON Lines or a table."""

from collections.abc import Iterator, Mapping
from typing import Any

from geval.files.tools.columns import named_columns, text_is_missing
from geval.files.tools.parts import Part
from geval.files.tools.ratings import OutputRatings, points_of

TITLE = "annotations of Potato"
MARKS = ("label_annotations",)
LABELS = "label_annotations"
# What separates the names of a question and of a label in a table's columns.
IN_TABLE = ":::"
PERSON = "Potato user"
_TRUE = ("true", True, 1, "1", "on")
_PREFIX = "scale_"


def knows(record: Mapping[str, Any]) -> bool:
    return isinstance(record.get(LABELS), dict) or (
        "instance_id" in record and any(IN_TABLE in name for name in record)
    )


def read(record: Part) -> Iterator[dict[str, Any]]:
    """Yield the instance's texts with the numbers among its labels."""
    who = record.first("user_id", "user", "annotator").name() or PERSON
    output_ratings = OutputRatings()
    if isinstance(record[LABELS].given, dict):
        for question, labels in record[LABELS].items():
            for label, value in labels.items() if isinstance(labels.given, dict) else ():
                _rate(question, label, value, who, output_ratings)
    for name in record.reading.record:
        question, mark, label = str(name).partition(IN_TABLE)
        if mark and record[name].holds:
            _rate(question, label, record[name], who, output_ratings)
    for name in ("span_annotations", "active"):
        record[name].skip()
    columns = named_columns(record, record["meta"], record["instance_data"], without=("id",))
    text = record["displayed_text"]
    if columns.get("output") is None and text.holds:
        columns["output"] = text.text()
    text.skip()
    columns["doc_id"] = record.first("instance_id", "id").name()
    if not text_is_missing(columns, record):
        yield {**columns, **output_ratings.columns}


def _rate(question: str, label: str, value: Part, who: str, output_ratings: OutputRatings) -> None:
    """Add a label: a number that was typed, or the number of the label that was chosen."""
    number = value.given if points_of(value.given) is not None else None
    chosen = label.removeprefix(_PREFIX)
    if points_of(chosen) is not None and (value.given in _TRUE or number is not None):
        value.skip()
        output_ratings.rating(question, who, Part(value.reading, value.path, chosen))
    else:
        output_ratings.rating(question, who, value)
