"""Runs of LangSmith: inputs, outputs and feedback."""

from collections.abc import Iterator, Mapping
from typing import Any

from geval.files.tools.exchanges import exchange
from geval.files.tools.parts import Part
from geval.files.tools.ratings import OutputRatings, is_answer

TITLE = "runs of LangSmith"
MARKS = ("run_type",)
HOLDER = "runs"
PEOPLE = ("app",)


def knows(record: Mapping[str, Any]) -> bool:
    return "run_type" in record and "inputs" in record and "outputs" in record


def read(record: Part) -> Iterator[dict[str, Any]]:
    """Yield the outermost run of a trace; nested runs are parts of it."""
    if record["parent_run_id"].holds:
        record.note_unused("runs within other runs (parent_run_id)")
        return
    if not record["outputs"].holds:
        record.note_unused("records without a text to rate")
        return
    if not is_answer(record["status"], "runs"):
        return
    output_ratings = OutputRatings()
    for feedback in record["feedback"].objects():
        _read_feedback(feedback, output_ratings)
    about = record.at("extra", "metadata")
    model = about.first("ls_model_name", "model_name", "model")
    for unused in ("run_type", "trace_id", "dotted_order", "session_id", "start_time", "end_time"):
        record[unused].skip()
    columns = {
        "doc_id": record["id"].name(),
        "system_id": model.name() or record["name"].name(),
        "session_id": about.first("session_id", "thread_id", "conversation_id").name(),
        **exchange(record["inputs"], record["outputs"]),
        **output_ratings.columns,
    }
    example = record["reference_example_id"].name()
    if example and "messages" not in columns:  # runs of several systems on one example
        columns["doc_id"] = example
    yield columns


def _read_feedback(feedback: Part, output_ratings: OutputRatings) -> None:
    source = feedback["feedback_source"]
    kind = source["type"].name()
    value = feedback["score"] if feedback["score"].holds else feedback["value"]
    criterion = feedback["key"].name()
    for unused in ("id", "run_id", "trace_id", "session_id", "created_at", "modified_at"):
        feedback[unused].skip()
    if kind in PEOPLE:
        who = source["user_name"].name() or source["user_id"].name() or "LangSmith user"
        output_ratings.rating(criterion, who, value)
    else:
        output_ratings.score(criterion, f"LangSmith {kind or 'feedback'}", value)
