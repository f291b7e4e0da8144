"""Traces and generations of Langfuse, as exported by its pages and API, with their scores."""

from collections.abc import Iterator, Mapping
from typing import Any

from geval.files.tools.exchanges import exchange
from geval.files.tools.parts import Part
from geval.files.tools.ratings import OutputRatings, is_answer

TITLE = "traces of Langfuse"
MARKS = ("input",)
HOLDER = "data"
_OF_TRACES = ("sessionId", "htmlPath", "projectId", "observations", "userId")
GENERATION = "GENERATION"


def knows(record: Mapping[str, Any]) -> bool:
    if not ("input" in record and "output" in record and "id" in record):
        return False
    return "traceId" in record or sum(name in record for name in _OF_TRACES) >= 2


def read(record: Part) -> Iterator[dict[str, Any]]:
    """Yield a trace, or a separately exported generation, with its scores."""
    kind = record["type"].value
    if kind is not None and kind != GENERATION:
        record.note_unused("observations that are no generations")
        return
    if not record["output"].holds:
        record.note_unused("records without a text to rate")
        return
    if not is_answer(record["level"], "observations"):
        return
    output_ratings = OutputRatings()
    if isinstance(record["scores"].given, dict):
        if record["scores"].holds:
            record["scores"].note_unused("scores whose author the file does not name")
    else:
        for score in record["scores"].objects():
            _read_score(score, output_ratings)
    model = record["model"].name() or _model_of(record["observations"]) or record["name"].name()
    for unused in ("traceId", "projectId", "htmlPath", "createdAt", "updatedAt"):
        record[unused].skip()
    yield {
        "doc_id": record["id"].name(),
        "system_id": model,
        "session_id": record["sessionId"].name(),
        **exchange(record["input"], record["output"]),
        **output_ratings.columns,
    }


def _read_score(score: Part, output_ratings: OutputRatings) -> None:
    if score["observationId"].holds and not score.reading.record.get("traceId"):
        score.note_unused("scores of observations within a trace")
        return
    value = score["value"] if score["value"].holds else score["stringValue"]
    name, source = score["name"].name(), score["source"].name()
    for unused in ("id", "traceId", "timestamp", "createdAt", "updatedAt", "projectId", "dataType"):
        score[unused].skip()
    if source == "ANNOTATION":
        output_ratings.rating(name, score["authorUserId"].name() or "Langfuse annotator", value)
    else:
        score["authorUserId"].skip()
        output_ratings.score(
            name, "Langfuse evaluator" if source == "EVAL" else "Langfuse API", value
        )


def _model_of(observations: Part) -> str:
    """Return the model of a trace's last generation."""
    if not isinstance(observations.given, list):
        return ""
    inner = [observations[index] for index in range(len(observations.given))]
    models = [o["model"].name() for o in inner if o["type"].given == GENERATION]
    return next(filter(None, reversed(models)), "")
