"""Examples of doccano (JSON Lines): a text with its labels."""

from collections.abc import Iterator, Mapping
from typing import Any

from geval.files.tools.columns import named_columns, text_is_missing
from geval.files.tools.parts import Part
from geval.files.tools.ratings import OVERALL, OutputRatings

TITLE = "examples of doccano"
MARKS = ("label", "labels", "annotations")
PERSON = "doccano annotator"
_LABELS = ("label", "labels")


def knows(record: Mapping[str, Any]) -> bool:
    has_text = "text" in record or "data" in record
    if isinstance(record.get("annotations"), list) and has_text and "id" in record:
        return all(
            isinstance(annotation, dict) and "label" in annotation
            for annotation in record["annotations"]
        )
    labelled = any(isinstance(record.get(name), list) for name in _LABELS)
    return has_text and labelled and ("Comments" in record or "id" in record)


def read(record: Part) -> Iterator[dict[str, Any]]:
    """Yield the labelled text as the output; other columns say what it answers."""
    output_ratings = OutputRatings()
    who = record["annotator"].name() or record["username"].name() or PERSON
    labels = record.first(*_LABELS)
    criterion = record["criterion"].name() or OVERALL
    if record["annotations"].holds:
        for annotation in record["annotations"].objects():
            user = annotation["user"].value
            output_ratings.rating(
                criterion, str(user) if user is not None else who, annotation["label"]
            )
            for unused in ("id", "document", "created_at", "updated_at", "manual", "prob"):
                annotation[unused].skip()
    elif isinstance(labels.given, list) and len(labels.given) > 1:
        labels.note_unused("several labels of one text")
    elif labels.holds:
        output_ratings.rating(criterion, who, labels)
    texts = record.first("text", "data")
    columns = named_columns(record, record["meta"], without=("id", "uid", "text"))
    columns["output"] = texts.text()
    record["id"].skip()
    if not text_is_missing(columns, record):
        yield {**columns, **output_ratings.columns}
