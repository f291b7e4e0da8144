"""Results of an OpenAI batch load with the file of their requests."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evaluations.corpus.store import LoadResult
from evaluations.models import Project
from tests.corpus.tools.reading import (
    ANSWERED,
    ASKED,
    FIXTURES,
    LATER,
    SAID,
    load_fixture,
    outputs,
    read,
    read_records,
    stored_outputs,
)


@pytest.mark.django_db
def test_results_and_requests(project: Project, load: Callable[..., LoadResult]) -> None:
    result = load_fixture(
        load, project, "openai_batch_results.jsonl", "openai_batch_requests.jsonl"
    )

    asked = "system: Answer in one sentence.\nuser: "
    assert stored_outputs(project) == [
        ("gpt-4o-mini-2024-07-18", asked + ASKED, ANSWERED),
        ("gpt-4o-mini-2024-07-18", asked + LATER, SAID),
    ]
    assert set(project.documents.values_list("doc_id", flat=True)) == {"ferry-1", "ferry-2"}
    listed = {one.column: one.rows for one in result.unused}
    assert listed["requests of a batch that failed"] == 1
    (used,) = (rows for column, rows in listed.items() if "used with its results" in column)
    assert used == 3


def test_results_without_their_requests_are_refused_with_what_to_do() -> None:
    rows, errors = read(FIXTURES / "openai_batch_results.jsonl")

    assert outputs(rows) == []
    assert [(error.line, error.column) for error in errors.listed] == [
        (1, "custom_id"),
        (2, "custom_id"),
    ]
    assert "load the file of the batch's" in errors.listed[0].message


BODIES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "completions": ({"prompt": ASKED}, {"model": "m", "choices": [{"text": ANSWERED}]}),
    "responses": (
        {"input": ASKED},
        {
            "model": "m",
            "output": [
                {
                    "type": "message",
                    "role": "assistant",
                    "content": [{"type": "output_text", "text": ANSWERED}],
                }
            ],
        },
    ),
}


@pytest.mark.parametrize(("asked", "answered"), BODIES.values(), ids=BODIES)
def test_other_endpoints(tmp_path: Path, asked: dict[str, Any], answered: dict[str, Any]) -> None:
    result = {
        "custom_id": "a",
        "response": {"status_code": 200, "body": answered},
        "request": {"custom_id": "a", "body": asked},
    }

    rows, errors = read_records(tmp_path, [result])

    assert errors.total == 0
    [(doc_id, system, source, output)] = outputs(rows)
    assert (doc_id, system, output) == ("a", "m", ANSWERED)
    assert source in (ASKED, f"user: {ASKED}")
