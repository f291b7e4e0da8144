"""Results of promptfoo: tests are documents, providers systems, assertions a judge."""

import json
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
    fixture,
    load_fixture,
    outputs,
    read_records,
    stored_outputs,
    stored_ratings,
    stored_scores,
    with_part,
)


@pytest.mark.django_db
def test_results_with_scores(project: Project, load: Callable[..., LoadResult]) -> None:
    result = load_fixture(load, project, "promptfoo_results.json")

    assert stored_outputs(project) == [
        ("gpt-4o-mini", ASKED, ANSWERED),
        ("gpt-4o-mini, prompt 2", ASKED, "At 08:10 from the old harbour."),
        ("gpt-4o-mini", LATER, SAID),
    ]
    assert project.documents.count() == 2
    assert stored_ratings(project) == {("overall", "promptfoo user", 1.0, ANSWERED)}
    assert {(c, j, v) for c, j, v, text in stored_scores(project) if text == SAID} == {
        ("helpful", "promptfoo", 0.0),
        ("score", "promptfoo", 0.0),
    }
    assert {"config", "latencyMs", "testCase"} <= {one.column for one in result.unused}


def test_the_prompt_is_the_source_if_no_variable_has_a_usual_name(tmp_path: Path) -> None:
    result = {
        "vars": {"harbour": "old"},
        "prompt": {"raw": "When, from the old one?"},
        "provider": "gpt",
        "response": {"output": {"hour": 8}},
    }

    rows, _ = read_records(tmp_path, [result])

    assert outputs(rows) == [(None, "gpt", "When, from the old one?", '{"hour":8}')]


BROKEN: dict[str, tuple[str, Any, str, str]] = {
    "an output that is missing": ("response", {}, "output", "expected a text, found nothing"),
    "scores that are a list": (
        "namedScores",
        [1],
        "namedScores",
        "expected an object, found a list",
    ),
}


@pytest.mark.parametrize(("path", "value", "column", "reason"), BROKEN.values(), ids=BROKEN)
def test_a_broken_record_is_refused_with_its_line(
    tmp_path: Path, path: str, value: Any, column: str, reason: str
) -> None:
    good = json.loads(fixture("promptfoo_results.json"))["results"]["results"][0]

    assert_refused(tmp_path, good, with_part(good, path, value), column, reason)
