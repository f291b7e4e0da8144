"""Traces of MLflow, with people's and judges' assessments."""

from collections.abc import Iterator, Mapping
from typing import Any

from geval.files.tools.exchanges import exchange
from geval.files.tools.parts import Part
from geval.files.tools.ratings import OutputRatings, is_answer

TITLE = "traces of MLflow"
MARKS = ("info",)
HOLDER = "traces"
EXPECTED_ANSWERS = ("expected_response", "expected_answer", "expected_output", "ground_truth")
_METADATA = ("trace_metadata", "request_metadata")
_KNOWN = ("request_preview", "response_preview", "client_request_id", "trace_location",
          "request_time", "timestamp_ms", "execution_time_ms", "execution_duration", "state",
          "status")  # fmt: skip


def knows(record: Mapping[str, Any]) -> bool:
    info, data = record.get("info"), record.get("data")
    return (
        isinstance(info, dict)
        and isinstance(data, dict)
        and ("trace_id" in info or "request_id" in info)
    )


def read(record: Part) -> Iterator[dict[str, Any]]:
    """Yield the input and output of a trace's outermost span."""
    info, data = record["info"], record["data"]
    asked, answered = data["request"], data["response"]
    root = _root(data["spans"])
    if not asked.holds and root is not None:
        asked = root.at("attributes", "mlflow.spanInputs")
        asked = asked if asked.holds else root["inputs"]
    if not answered.holds and root is not None:
        answered = root.at("attributes", "mlflow.spanOutputs")
        answered = answered if answered.holds else root["outputs"]
    if not answered.holds:
        record.note_unused("records without a text to rate")
        return
    if not is_answer(info["state"], "traces"):
        return
    output_ratings, references = OutputRatings(), []
    for assessment in info["assessments"].objects():
        references += _read_assessment(assessment, output_ratings)
    for name in _KNOWN:
        info[name].skip()
    data["spans"].skip()
    yield {
        "doc_id": info.first("trace_id", "request_id").name(),
        "system_id": _noted(info, "mlflow.modelId") or info.at("tags", "mlflow.traceName").name(),
        "session_id": _noted(info, "mlflow.trace.session"),
        "references": references,
        **exchange(asked, answered),
        **output_ratings.columns,
    }


def _noted(info: Part, name: str) -> str:
    """Return what the metadata has under a name."""
    return next(filter(None, (info.at(metadata, name).name() for metadata in _METADATA)), "")


def _root(spans: Part) -> Part | None:
    """Return the span without a parent."""
    for span in spans.objects():
        if not (span["parent_span_id"].holds or span["parent_id"].holds):
            return span
    return None


def _read_assessment(assessment: Part, output_ratings: OutputRatings) -> list[str]:
    """Add a rating or a score; if the assessment is an expected answer, return that."""
    name = assessment.first("assessment_name", "name").name()
    source = assessment["source"]
    for unused in ("assessment_id", "trace_id", "span_id", "create_time", "last_update_time"):
        assessment[unused].skip()
    if assessment["valid"].value is False:
        assessment.note_unused("assessments that were overridden")
        return []
    if assessment.at("feedback", "error").holds:
        assessment.note_unused("assessments that failed")
        return []
    if assessment["expectation"].holds:
        value = assessment.at("expectation", "value")
        if name in EXPECTED_ANSWERS and isinstance(value.given, str):
            return [value.value]
        value.note_unused(f"expectations: {name}")
        return []
    who, value = source["source_id"].name(), assessment.at("feedback", "value")
    if source["source_type"].name() == "HUMAN":
        output_ratings.rating(name, who or "MLflow user", value)
    else:
        output_ratings.score(name, who or "MLflow judge", value)
    return []
