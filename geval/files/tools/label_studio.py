"""Tasks of Label Studio (JSON export): their data, people's annotations, models' predictions."""

from collections.abc import Iterator, Mapping
from typing import Any

from geval.files.tools.columns import named_columns, text_is_missing
from geval.files.tools.parts import Part
from geval.files.tools.ratings import COMMENT, OutputRatings, is_answer

TITLE = "tasks of Label Studio"
MARKS = ("data",)
# Where our export stores the record of answers, which cannot be loaded again.
RECORD = "meta"
# The field with the value of each type of result.
VALUES = {"rating": "rating", "number": "number", "choices": "choices"}
_KNOWN = ("id", "inner_id", "project", "created_at", "updated_at", "updated_by", "file_upload",
          "total_annotations", "cancelled_annotations", "total_predictions")  # fmt: skip


def knows(record: Mapping[str, Any]) -> bool:
    return isinstance(record.get("data"), dict) and (
        isinstance(record.get("annotations"), list) or isinstance(record.get("predictions"), list)
    )


def read(record: Part) -> Iterator[dict[str, Any]]:
    """Yield the texts in a task's data, with each rating, number, and choice that has a number."""
    output_ratings = OutputRatings()
    for annotation in record["annotations"].objects():
        who = _person(annotation["completed_by"])
        if annotation["was_cancelled"].value is True:
            annotation.note_unused("annotations that were skipped")
            continue
        if not is_answer(annotation["last_action"], "annotations"):
            annotation.skip()
            continue
        for result in annotation["result"].objects():
            name, value = _read_result(result)
            if name == COMMENT and (text := value["text"][0]).holds:
                output_ratings.comment(who, text)
            else:
                output_ratings.rating(name, who, value)
        for unused in (*_KNOWN, "unique_id", "lead_time", "task"):
            annotation[unused].skip()
    for prediction in record["predictions"].objects():
        judge = prediction["model_version"].name() or "Label Studio prediction"
        for result in prediction["result"].objects():
            name, value = _read_result(result)
            output_ratings.score(name, judge, value)
        for unused in (*_KNOWN, "task"):
            prediction[unused].skip()
    for unused in (*_KNOWN, RECORD):
        record[unused].skip()
    columns = named_columns(record["data"], without=("id", "uid"))
    if not text_is_missing(columns, record["data"]):
        yield {**columns, **output_ratings.columns}


def _read_result(result: Part) -> tuple[str, Part]:
    """Read a result: its criterion and value."""
    kind, name = result["type"].name(), result["from_name"].name()
    for unused in ("id", "to_name", "origin"):
        result[unused].skip()
    holder = result["value"]
    return name, holder[VALUES[kind]] if kind in VALUES else holder


def _person(completed_by: Part) -> str:
    if isinstance(completed_by.given, dict):
        return completed_by.first("email", "username", "id").name()
    number = completed_by.value
    if isinstance(number, str) and number.strip():
        return number.strip()
    if isinstance(number, int) and not isinstance(number, bool):
        return f"annotator {number}"
    return "Label Studio annotator"
