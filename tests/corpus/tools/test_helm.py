"""Scenario states of HELM: instances are documents, the first completion is the output."""

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
    assert_refused,
    fixture,
    load_fixture,
    stored_outputs,
    with_part,
)


@pytest.mark.django_db
def test_instances_and_completions(project: Project, load: Callable[..., LoadResult]) -> None:
    result = load_fixture(load, project, "helm_scenario_state.json")

    assert stored_outputs(project)[0] == ("openai/gpt-4o-mini", ASKED, f" {ANSWERED}")
    found = project.documents.order_by("pk").values_list("doc_id", "references", "session")
    assert list(found) == [
        ("id0", ["At 08:10."], ""),
        ("id0, typos", ["At 08:10."], "id0"),
        ("id1", [], ""),
    ]
    assert {"request.temperature", "annotator_specs"} <= {one.column for one in result.unused}


BROKEN: dict[str, tuple[str, Any, str, str]] = {
    "no input": ("instance.input", {}, "source", "expected a text, found nothing"),
    "a completion that is a number": (
        "result.completions.0.text",
        7,
        "result.completions[1].text",
        "expected a text, found a number",
    ),
    "references that are a text": (
        "instance.references",
        "x",
        "instance.references",
        "expected a list, found a text",
    ),
}


@pytest.mark.parametrize(("path", "value", "column", "reason"), BROKEN.values(), ids=BROKEN)
def test_a_broken_record_is_refused_with_its_line(
    tmp_path: Path, path: str, value: Any, column: str, reason: str
) -> None:
    good = json.loads(fixture("helm_scenario_state.json"))["request_states"][0]

    assert_refused(tmp_path, good, with_part(good, path, value), column, reason)
