"""Runs of LangSmith, with feedback of people and of evaluators."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evaluations.corpus.store import LoadResult
from evaluations.models import Project
from tests.corpus.tools.reading import (
    ANSWERED,
    ASKED,
    LATER,
    SAID,
    assert_refused,
    load_fixture,
    outputs,
    read_records,
    records_in,
    stored_outputs,
    stored_ratings,
    stored_scores,
    with_part,
)


@pytest.mark.django_db
def test_runs_with_feedback(project: Project, load: Callable[..., LoadResult]) -> None:
    result = load_fixture(load, project, "langsmith_runs.jsonl")

    assert stored_outputs(project) == [
        ("gpt-4o-mini", ASKED, ANSWERED),
        ("gpt-4o-mini", LATER, SAID),
    ]
    assert stored_ratings(project) == {("correctness", "anna@example.org", 1.0, ANSWERED)}
    assert stored_scores(project) == {("correctness", "LangSmith model", 0.5, ANSWERED)}
    listed = {one.column: one.rows for one in result.unused}
    assert listed["runs within other runs (parent_run_id)"] == 1
    assert "feedback_stats" in listed


def test_messages_and_generations_of_langchain(tmp_path: Path) -> None:
    human = {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "HumanMessage"],
             "kwargs": {"content": ASKED, "type": "human"}}  # fmt: skip
    answer = {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "AIMessage"],
              "kwargs": {"content": ANSWERED}}  # fmt: skip
    run = {
        "id": "r",
        "run_type": "llm",
        "inputs": {"messages": [[human]]},
        "outputs": {"generations": [[{"text": ANSWERED, "message": answer}]]},
    }

    rows, errors = read_records(tmp_path, [run])

    assert errors.total == 0
    assert outputs(rows) == [("r", "file", f"user: {ASKED}", ANSWERED)]


def test_an_agents_answer_does_not_repeat_what_was_asked(tmp_path: Path) -> None:
    asked = [{"type": "human", "content": ASKED}]
    said = [*asked, {"type": "ai", "content": ANSWERED}]
    run = {"id": "r", "run_type": "chain", "name": "agent", "inputs": {"messages": asked},
           "outputs": {"messages": said}}  # fmt: skip

    rows, _ = read_records(tmp_path, [run])

    assert outputs(rows) == [("r", "agent", f"user: {ASKED}", ANSWERED)]


BROKEN: dict[str, tuple[str, Any, str, str]] = {
    "no inputs": ("inputs", None, "inputs", "expected a text or messages, found nothing"),
    "outputs that are true": ("outputs", True, "outputs", "expected a text or messages"),
    "feedback that is an object": (
        "feedback",
        {"a": 1},
        "feedback",
        "expected a list, found an object",
    ),
}


@pytest.mark.parametrize(("path", "value", "column", "reason"), BROKEN.values(), ids=BROKEN)
def test_a_broken_record_is_refused_with_its_line(
    tmp_path: Path, path: str, value: Any, column: str, reason: str
) -> None:
    good = records_in("langsmith_runs.jsonl")[0]

    assert_refused(tmp_path, good, with_part(good, path, value), column, reason)
