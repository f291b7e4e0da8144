"""Annotations of Potato: one person's labels of an instance, in JSON Lines or a table."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from geval.files.tools.columns import named_columns, text_is_missing
from geval.files.tools.parts import Part
from geval.files.tools.ratings import COMMENT, OutputRatings, points_of

TITLE = "annotations of Potato"
MARKS = ("label_annotations", "instance_id")
# The labels in an export and in older files.
LABELS = ("labels", "label_annotations")
# What separates the names of a question and of a label in a table's columns.
MARK, OLDER_MARK = ".", ":::"
PERSON = "Potato user"
# How a chosen label is marked; a number beside a label without one was typed.
_CHOSEN = ("true", "on")
_PREFIX = "scale_"


def label_columns(names: Collection[str]) -> dict[str, tuple[str, str]]:
    """Return question and label of each column with labels in a table with these columns."""
    mark = OLDER_MARK if any(OLDER_MARK in name for name in names) else MARK
    if mark == MARK and not {"instance_id", "user_id"}.issubset(names):
        return {}
    parts = {name: name.partition(mark) for name in names if mark in name}
    return {name: (question, label) for name, (question, _, label) in parts.items()}


def knows(record: Mapping[str, Any]) -> bool:
    is_ours = "instance_id" in record or LABELS[1] in record
    has_labels = any(isinstance(record.get(name), dict) for name in LABELS)
    return is_ours and (has_labels or bool(label_columns(record)))


def read(record: Part) -> Iterator[dict[str, Any]]:
    """Yield the instance's texts with the numbers among its labels."""
    who = record.first("user_id", "user", "annotator").name() or PERSON
    output_ratings = OutputRatings()
    for name in LABELS:
        for question, labels in record[name].items():
            for label, value in labels.items() if isinstance(labels.given, dict) else ():
                _rate(question, label, value, who, output_ratings)
    for name, (question, label) in label_columns(record.reading.record).items():
        if record[name].holds:
            _rate(question, label, record[name], who, output_ratings)
    for name in ("span_annotations", "active"):
        record[name].skip()
    columns = named_columns(record, record["meta"], record["instance_data"], without=("id",))
    text = record["displayed_text"]
    if columns.get("output") is None and text.holds:
        columns["output"] = text.text()
    text.skip()
    instance = record.first("instance_id", "id")
    columns["doc_id"] = instance.name()
    if columns.get("source") is None and columns.get("output") is None:
        instance.error(
            "this looks like annotations of Potato, which lack the texts: add the fields of each"
            " instance from the data file"
        )
    elif not text_is_missing(columns, record):
        yield {**columns, **output_ratings.columns}


def _rate(question: str, label: str, value: Part, who: str, output_ratings: OutputRatings) -> None:
    """Add a label: the number of the one that was chosen, or a number or text that was typed."""
    label = label.removeprefix(_PREFIX)
    is_numbered = points_of(label) is not None
    if str(value.given).lower() in _CHOSEN or (is_numbered and points_of(value.given) is not None):
        value.skip()
        output_ratings.rating(question, who, Part(value.reading, value.path, label))
    elif question == COMMENT:
        output_ratings.comment(who, value)
    else:
        output_ratings.rating(question, who, value)
