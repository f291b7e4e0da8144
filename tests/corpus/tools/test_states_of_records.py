"""Discarded, failed, skipped and cancelled records of any tool are no answers, and are listed."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.corpus.tools.reading import (
    ASKED,
    fixture,
    outputs,
    ratings,
    read_records,
    records_in,
    unused,
    with_part,
)

TASK, TRACE = (records_in(f"{name}.json")[0] for name in ("label_studio_tasks", "argilla_records"))
TRACED = {"id": "g1", "traceId": "t1", "type": "GENERATION", "model": "m", "input": ASKED}
OLDER = {
    "fields": {"prompt": ASKED, "response": "At 8."},
    "responses": [{"user_id": "anna", "status": "submitted", "values": {"quality": {"value": 4}}}],
}
SPAN = {
    "attributes": {
        "llm.model_name": "m",
        "input.value": ASKED,
        "output.value": "At 8.",
        "openinference.span.kind": "LLM",
    }
}
RESULT = json.loads(fixture("promptfoo_results.json"))["results"]["results"][0]
LABELS = {"quality.responses": [4], "quality.responses.users": ["anna"]}
FLAT = {"prompt": ASKED, "response": "At 8.", **LABELS}

# A record, the field with its state, a state that is no answer, and what is listed.
UNRATED: dict[str, tuple[dict[str, Any], str, Any, str]] = {
    "Label Studio, skipped": (
        with_part(TASK, "annotations", TASK["annotations"][:1]),
        "annotations.0.was_cancelled",
        True,
        "annotations that were skipped",
    ),
    "Label Studio, rejected by a reviewer": (
        with_part(TASK, "annotations", TASK["annotations"][:1]),
        "annotations.0.last_action",
        "rejected",
        "annotations that are rejected",
    ),
    "Argilla, nested": (
        with_part(TRACE, "responses", {"quality": [{"value": 4, "user_id": "anna"}]}),
        "responses.quality.0.status",
        "draft",
        "responses that are draft",
    ),
    "Argilla, older": (OLDER, "responses.0.status", "discarded", "responses that are discarded"),
    "Argilla, flattened": (
        FLAT, "quality.responses.status", ["discarded"], "responses that are discarded",
    ),
}  # fmt: skip


def changed(record: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    return {**record, path: value} if "responses.status" in path else with_part(record, path, value)


@pytest.mark.parametrize(("record", "path", "state", "listed"), UNRATED.values(), ids=UNRATED)
def test_answer_that_does_not_count_is_listed(
    tmp_path: Path, record: dict[str, Any], path: str, state: Any, listed: str
) -> None:
    rows, errors = read_records(tmp_path, [changed(record, path, state)])

    assert not errors.listed
    assert len(outputs(rows)) == 1
    assert ratings(rows) == set()
    assert listed in unused(errors)


# A record, and what is listed instead of its output.
FAILED: dict[str, tuple[dict[str, Any], str]] = {
    "Langfuse": (TRACED | {"output": "At 8.", "level": "ERROR"}, "observations that are error"),
    "OpenInference": (SPAN | {"status_code": "ERROR"}, "spans that are error"),
    "promptfoo": (RESULT | {"failureReason": 2}, "results with an error"),
    "OpenAI's responses": (
        {
            "custom_id": "q1",
            "response": {"status_code": 200, "body": {"status": "cancelled", "output": []}},
        },
        "responses that are cancelled",
    ),
}


@pytest.mark.parametrize(("record", "listed"), FAILED.values(), ids=FAILED)
def test_failed_record_is_listed(tmp_path: Path, record: dict[str, Any], listed: str) -> None:
    rows, errors = read_records(tmp_path, [record])

    assert outputs(rows) == []
    assert listed in unused(errors)
