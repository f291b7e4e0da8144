"""Traces and generations of Langfuse, with the scores of people and evaluators."""

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
    scores,
    stored_outputs,
    stored_ratings,
    stored_scores,
    unused,
    with_part,
)


@pytest.mark.django_db
def test_traces_with_scores(project: Project, load: Callable[..., LoadResult]) -> None:
    result = load_fixture(load, project, "langfuse_traces.json")

    assert stored_outputs(project) == [
        ("gpt-4o-mini", f"user: {ASKED}", ANSWERED),
        ("ferry-bot", LATER, SAID),
    ]
    assert stored_ratings(project) == {("helpfulness", "anna", 4.0, ANSWERED)}
    assert stored_scores(project) == {("helpfulness", "Langfuse evaluator", 0.8, ANSWERED)}
    listed = {one.column for one in result.unused}
    assert {"ratings without a number: tone", "scores[].comment", "latency"} <= listed


def test_generations_exported_by_themselves(tmp_path: Path) -> None:
    call = {
        "id": "o1",
        "traceId": "t1",
        "type": "GENERATION",
        "model": "gpt",
        "input": [{"role": "user", "content": ASKED}],
        "output": {"role": "assistant", "content": ANSWERED},
    }

    rows, errors = read_records(tmp_path, [call, call | {"id": "o2", "type": "SPAN"}])

    assert outputs(rows) == [("o1", "gpt", f"user: {ASKED}", ANSWERED)]
    assert unused(errors) == {"observations that are no generations"}


def test_scores_without_an_author_are_listed(tmp_path: Path) -> None:
    trace = with_part(records_in("langfuse_traces.json")[1], "scores", {"quality": [4, 5]})

    rows, errors = read_records(tmp_path, [trace])

    assert (len(outputs(rows)), scores(rows)) == (1, set())
    assert any("author the file does not name" in part for part in unused(errors))


BROKEN: dict[str, tuple[str, Any, str, str]] = {
    "an output that is true": ("output", True, "output", "expected a text or messages"),
    "scores that are a text": ("scores", "4", "scores", "expected a list, found a text"),
    "a session that is a list": ("sessionId", [1], "sessionId", "expected a name, found a list"),
}


@pytest.mark.parametrize(("path", "value", "column", "reason"), BROKEN.values(), ids=BROKEN)
def test_a_broken_record_is_refused_with_its_line(
    tmp_path: Path, path: str, value: Any, column: str, reason: str
) -> None:
    good = records_in("langfuse_traces.json")[0]

    assert_refused(tmp_path, good, with_part(good, path, value), column, reason)
