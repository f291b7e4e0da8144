"""Tasks of Label Studio: annotations are ratings of who completed them."""

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
    ratings,
    read_records,
    records_in,
    stored_outputs,
    stored_ratings,
    stored_scores,
    unused,
    with_part,
)


@pytest.mark.django_db
def test_annotations_and_predictions(project: Project, load: Callable[..., LoadResult]) -> None:
    result = load_fixture(load, project, "label_studio_tasks.json")

    assert stored_outputs(project) == [
        ("gpt-4o-mini", ASKED, ANSWERED),
        ("gpt-4o-mini", LATER, SAID),
    ]
    assert stored_ratings(project) == {
        ("quality", "anna@example.org", 4.0, ANSWERED),
        ("fluency", "anna@example.org", 4.0, ANSWERED),
        ("quality", "annotator 2", 3.0, ANSWERED),
    }
    assert stored_scores(project) == {("quality", "gpt-4o", 5.0, ANSWERED)}
    assert "ratings without a number: topic" in {one.column for one in result.unused}


def test_skipped_annotations_are_listed(tmp_path: Path) -> None:
    task = with_part(records_in("label_studio_tasks.json")[0], "annotations.1.was_cancelled", True)

    rows, errors = read_records(tmp_path, [task])

    assert {who for _, who, _ in ratings(rows)} == {"anna@example.org"}
    assert "annotations that were skipped" in unused(errors)


BROKEN: dict[str, tuple[str, Any, str, str]] = {
    "no source": ("data", {"output": "x"}, "data", "no field is the source"),
    "results that are an object": (
        "annotations.0.result",
        {"a": 1},
        "annotations[1].result",
        "expected a list, found an object",
    ),
    "a prediction of a number": ("predictions.0", 7, "predictions[1]", "expected an object"),
    "one person twice": (
        "annotations.1.completed_by",
        "anna@example.org",
        "annotations[2].result[1].value.rating",
        "twice, 4 and 3",
    ),
}


@pytest.mark.parametrize(("path", "value", "column", "reason"), BROKEN.values(), ids=BROKEN)
def test_a_broken_record_is_refused_with_its_line(
    tmp_path: Path, path: str, value: Any, column: str, reason: str
) -> None:
    good = records_in("label_studio_tasks.json")[0]

    assert_refused(tmp_path, good, with_part(good, path, value), column, reason)
