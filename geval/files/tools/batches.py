"""Results of an OpenAI batch, whose prompts are in another file: its requests, by `custom_id`."""

from collections.abc import Iterator, Mapping
from typing import Any

from geval.files.tools.exchanges import exchange
from geval.files.tools.parts import Part
from geval.files.tools.ratings import is_answer
from geval.files.unused import REQUESTS

TITLE = "an OpenAI batch: its requests or results"
MARKS = ("custom_id",)
REQUEST = "request"


def knows(record: Mapping[str, Any]) -> bool:
    return is_result(record) or is_request(record)


def is_result(record: Mapping[str, Any]) -> bool:
    """Return whether a record is a line of the file of results."""
    return "custom_id" in record and ("response" in record or "error" in record)


def is_request(record: Mapping[str, Any]) -> bool:
    """Return whether a record is a line of the file of requests."""
    return isinstance(record.get("body"), dict) and "custom_id" in record


def read(record: Part) -> Iterator[dict[str, Any]]:
    """Yield the question and answer; the request has been added to the result
    (`requests_beside`)."""
    if is_request(record.reading.record):
        record.note_unused(REQUESTS)
        return
    response = record["response"]
    status = response["status_code"].value
    if record["error"].holds or response.given is None or status not in (None, 200):
        record.note_unused("requests of a batch that failed")
        return
    if not is_answer(response.at("body", "status"), "responses"):
        record.skip()
        return
    name = record["custom_id"].name()
    asked = record.at(REQUEST, "body")
    if not asked.holds:
        record["custom_id"].error(
            f"no request {name} is among the files; load the file of the batch's requests together"
            " with its results"
        )
        return
    record[REQUEST].skip()
    for unused in ("id", "object", "created"):
        response.at("body", unused).skip()
    question = asked.first("messages", "input", "prompt")
    yield {
        "doc_id": name,
        "system_id": response.at("body", "model").name() or asked["model"].name(),
        **exchange(question, response["body"]),
    }
