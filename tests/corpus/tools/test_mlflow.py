"""Traces of MLflow, with assessments of people and judges."""

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
def test_traces_with_assessments(project: Project, load: Callable[..., LoadResult]) -> None:
    result = load_fixture(load, project, "mlflow_traces.json")

    assert stored_outputs(project) == [("m-ferry", ASKED, ANSWERED), ("m-ferry", LATER, SAID)]
    assert stored_ratings(project) == {("helpfulness", "anna@example.org", 4.0, ANSWERED)}
    assert stored_scores(project) == {("is_grounded", "gpt-4o", 1.0, ANSWERED)}
    assert project.documents.order_by("pk")[0].references == ["At 08:10."]
    assert "ratings without a number: tone" in {one.column for one in result.unused}


def test_traces_of_version_2(tmp_path: Path) -> None:
    trace = {
        "info": {"request_id": "tr-9", "status": "OK"},
        "data": {"spans": [], "request": '{"question": "' + ASKED + '"}', "response": '"Soon."'},
    }

    rows, _ = read_records(tmp_path, [trace])

    assert outputs(rows) == [("tr-9", "file", ASKED, "Soon.")]


BROKEN: dict[str, tuple[str, Any, str, str]] = {
    "spans that are a text": ("data.spans", "x", "data.spans", "expected a list, found a text"),
    "nothing asked": (
        "data.spans.0.attributes",
        {"mlflow.spanOutputs": "x"},
        "data.spans[1].inputs",
        "found nothing",
    ),
    "assessments that are an object": (
        "info.assessments",
        {"a": 1},
        "info.assessments",
        "expected a list",
    ),
    "a judge that is a list": (
        "info.assessments.1.source.source_id",
        [1],
        "info.assessments[2].source.source_id",
        "expected a name",
    ),
}


@pytest.mark.parametrize(("path", "value", "column", "reason"), BROKEN.values(), ids=BROKEN)
def test_a_broken_record_is_refused_with_its_line(
    tmp_path: Path, path: str, value: Any, column: str, reason: str
) -> None:
    good = records_in("mlflow_traces.json")[0]

    assert_refused(tmp_path, good, with_part(good, path, value), column, reason)
