"""Examples of doccano: the labelled text is the output, a label with a number its rating."""

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
    ratings,
    read_records,
    records_in,
    stored_outputs,
    stored_ratings,
    unused,
    with_part,
)


@pytest.mark.django_db
def test_labels_with_numbers(project: Project, load: Callable[..., LoadResult]) -> None:
    result = load_fixture(load, project, "doccano_examples.jsonl")

    assert stored_outputs(project) == [
        ("gpt-4o-mini", ASKED, ANSWERED),
        ("gpt-4o-mini", LATER, SAID),
    ]
    assert stored_ratings(project) == {("quality", "anna", 4.0, ANSWERED)}
    assert {one.column for one in result.unused} == {
        "ratings without a number: quality",
        "Comments",
    }


def test_several_labels_are_listed(tmp_path: Path) -> None:
    example = with_part(records_in("doccano_examples.jsonl")[0], "label", ["4", "good"])

    rows, errors = read_records(tmp_path, [example])

    assert (len(outputs(rows)), ratings(rows)) == (1, set())
    assert "several labels of one text" in unused(errors)


def test_annotations_of_several_users(tmp_path: Path) -> None:
    example = {
        "id": 5,
        "text": ANSWERED,
        "meta": {"source": ASKED, "system_id": "gpt"},
        "annotations": [{"label": 4, "user": 1}, {"label": 3, "user": 2}],
    }

    rows, _ = read_records(tmp_path, [example])

    assert outputs(rows) == [(None, "gpt", ASKED, ANSWERED)]
    assert ratings(rows) == {("overall", "1", 4.0), ("overall", "2", 3.0)}


BROKEN: dict[str, tuple[str, Any, str, str]] = {
    "no source": ("source", "", "source", "expected a text, found nothing"),
    "a text that is a list": ("text", ["x"], "text", "expected a text, found a list"),
    "an annotator that is a list": ("annotator", [1], "annotator", "expected a name, found a list"),
}


@pytest.mark.parametrize(("path", "value", "column", "reason"), BROKEN.values(), ids=BROKEN)
def test_a_broken_record_is_refused_with_its_line(
    tmp_path: Path, path: str, value: Any, column: str, reason: str
) -> None:
    good = records_in("doccano_examples.jsonl")[0]

    assert_refused(tmp_path, good, with_part(good, path, value), column, reason)
