"""Records of Argilla: responses are people's ratings, suggestions scores of their agents."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from annotations.models import Rating
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
    ratings,
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
def test_responses_and_suggestions(project: Project, load: Callable[..., LoadResult]) -> None:
    result = load_fixture(load, project, "argilla_records.json")

    assert stored_outputs(project) == [
        ("gpt-4o-mini", ASKED, ANSWERED),
        ("gpt-4o-mini", LATER, SAID),
    ]
    assert stored_ratings(project) == {
        ("quality", "u-anna", 4.0, ANSWERED),
        ("quality", "u-bob", 3.0, ANSWERED),
    }
    assert stored_scores(project) == {("quality", "gpt-4o", 5.0, ANSWERED)}
    assert {one.column for one in result.unused} == {"suggestions.quality.score"}
    assert set(Rating.objects.exclude(comment="").values_list("annotator__name", flat=True))


def test_flattened_records(tmp_path: Path) -> None:
    record = {
        "prompt": ASKED,
        "response": ANSWERED,
        "model": "gpt",
        "id": "rec-1",
        "status": "completed",
        "quality.responses": [4, 3],
        "quality.responses.users": ["anna", "bob"],
        "quality.responses.status": ["submitted", "submitted"],
        "quality.suggestion": 5,
        "quality.suggestion.agent": "gpt-4o",
        "quality.suggestion.score": None,
    }

    rows, errors = read_records(tmp_path, [record])

    assert errors.total == 0
    assert outputs(rows) == [(None, "gpt", ASKED, ANSWERED)]
    assert ratings(rows) == {("quality", "anna", 4.0), ("quality", "bob", 3.0)}
    assert scores(rows) == {("quality", "gpt-4o", 5.0)}
    assert unused(errors) == set()


def test_records_of_an_older_server(tmp_path: Path) -> None:
    record = {
        "fields": {"prompt": ASKED, "response": ANSWERED},
        "responses": [
            {"user_id": "anna", "values": {"quality": {"value": 4}}, "status": "submitted"}
        ],
        "suggestions": [{"question_name": "quality", "agent": "gpt-4o", "value": 5}],
    }

    rows, _ = read_records(tmp_path, [record])

    assert ratings(rows) == {("quality", "anna", 4.0)}
    assert scores(rows) == {("quality", "gpt-4o", 5.0)}


BROKEN: dict[str, tuple[str, Any, str, str]] = {
    "no output": ("fields", {"prompt": "Why?"}, "fields", "no field is the output"),
    "a text that is a flag": ("fields.response", True, "output", "expected a text, found true"),
    "responses that are a text": (
        "responses",
        "4",
        "responses",
        "expected an object, found a text",
    ),
    "answers that are no list": (
        "responses.quality",
        {"value": 4},
        "responses.quality",
        "expected a list, found an object",
    ),
    "an author that is a list": (
        "responses.quality.0.user_id",
        ["a"],
        "responses.quality[1].user_id",
        "expected a name",
    ),
    "two answers of one person": (
        "responses.quality.1.user_id",
        "u-anna",
        "responses.quality[2].value",
        "twice, 4 and 3",
    ),
}


@pytest.mark.parametrize(("path", "value", "column", "reason"), BROKEN.values(), ids=BROKEN)
def test_a_broken_record_is_refused_with_its_line(
    tmp_path: Path, path: str, value: Any, column: str, reason: str
) -> None:
    good = records_in("argilla_records.json")[0]

    assert_refused(tmp_path, good, with_part(good, path, value), column, reason)
