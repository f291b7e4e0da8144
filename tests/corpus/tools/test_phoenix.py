"""Spans of Phoenix as a table: what went into a call, what came out, and evaluations."""

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from pyarrow import parquet

from evaluations.corpus.store import LoadResult
from evaluations.models import Project
from tests.corpus.tools.reading import (
    ANSWERED,
    ASKED,
    FIXTURES,
    LATER,
    SAID,
    assert_refused,
    load_fixture,
    outputs,
    read,
    stored_outputs,
    stored_scores,
)


@pytest.mark.django_db
def test_a_table_of_spans(project: Project, load: Callable[..., LoadResult]) -> None:
    result = load_fixture(load, project, "phoenix_spans.csv")

    assert stored_outputs(project) == [
        ("gpt-4o-mini", f"user: {ASKED}", ANSWERED),
        ("gpt-4o-mini", LATER, SAID),
    ]
    assert stored_scores(project) == {
        ("Hallucination", "Phoenix evaluator", 0.0, ANSWERED),
        ("Hallucination", "Phoenix evaluator", 1.0, SAID),
    }
    assert {one.column for one in result.unused} == {
        "attributes.llm.token_count.total",
        "eval.Hallucination.label",
        "records without a text to rate",
    }


def first() -> dict[str, Any]:
    with (FIXTURES / "phoenix_spans.csv").open() as file:
        return dict(next(csv.DictReader(file)))


def with_part(record: dict[str, Any], name: str, value: Any) -> dict[str, Any]:
    """Columns of spans have dots in their names."""
    return record | {name: value}


def test_the_same_table_as_parquet_with_messages(tmp_path: Path) -> None:
    said = [{"message.role": "assistant", "message.content": ANSWERED}]
    asked = [{"message.role": "user", "message.content": ASKED}]
    table = {
        "context.span_id": ["s1"],
        "attributes.openinference.span.kind": ["LLM"],
        "attributes.llm.model_name": ["gpt"],
        "attributes.llm.input_messages": [asked],
        "attributes.llm.output_messages": [said],
    }
    parquet.write_table(pyarrow.table(table), tmp_path / "spans.parquet")

    rows, errors = read(tmp_path / "spans.parquet")

    assert errors.total == 0
    assert outputs(rows) == [("s1", "gpt", f"user: {ASKED}", ANSWERED)]


BROKEN: dict[str, tuple[str, Any, str, str]] = {
    "a call that was asked nothing": (
        "attributes.input.value",
        None,
        "attributes.input.value",
        "found nothing",
    ),
}


@pytest.mark.parametrize(("path", "value", "column", "reason"), BROKEN.values(), ids=BROKEN)
def test_a_broken_record_is_refused_with_its_line(
    tmp_path: Path, path: str, value: Any, column: str, reason: str
) -> None:
    good = first()

    assert_refused(tmp_path, good, with_part(good, path, value), column, reason)
