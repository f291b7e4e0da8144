"""Files and records of other tools, and exactly what each gives: `tests/data/tools/importers.json`.

Its "files" were written by the tools' own packages: deepeval 4.3, alpaca-eval 0.6, fschat 0.2,
lm-eval 0.4, label-studio-sdk 2.1, argilla 2.8, promptfoo 0.12x, potato-annotation 2.12, langfuse
3.15, langsmith 0.15, mlflow 3.17, inspect-ai 0.3.
"""

import json
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from pyarrow import parquet

from annotations.models import Rating
from evaluations.corpus.store import LoadResult
from evaluations.models import CandidateOutput, Project
from geval.files.mapping import structure_of
from geval.files.rows import FileErrors, PreferenceRow, Row
from tests.corpus.small_files import SmallFile
from tests.corpus.test_small_files import load as load_small
from tests.corpus.tools.reading import (
    ANSWERED,
    ASKED,
    FIXTURES,
    assert_refused,
    fixture,
    load_fixture,
    outputs,
    ratings,
    read,
    read_records,
    records_in,
    scores,
    stored_outputs,
    stored_ratings,
    stored_scores,
    unused,
    with_part,
)

EXPECTED = json.loads(fixture("importers.json"))
LOADED, FILES, RECORDS = EXPECTED["loaded"], EXPECTED["files"], EXPECTED["records"]
GOOD, REFUSED = EXPECTED["good"], EXPECTED["refused"]


def rows_in(listed: Iterable[Iterable[Any]]) -> set[tuple[Any, ...]]:
    return {tuple(row) for row in listed}


def assert_gives(rows: list[Row], errors: FileErrors, expected: dict[str, Any]) -> None:
    """A score that is no number, whose meaning other rows decide, is left out."""
    choices = [
        [row.first, row.second, row.annotator, row.value]
        for row in rows
        if isinstance(row, PreferenceRow)
    ]
    assert [str(error) for error in errors.listed] == []
    assert [list(row) for row in outputs(rows)] == expected.get("outputs", [])
    for seen, name in ((ratings(rows), "ratings"), (scores(rows), "scores")):
        assert {row for row in seen if row[2] == row[2]} == rows_in(expected.get(name, ()))
    assert choices == expected.get("choices", [])
    assert set(expected.get("unused", ())) <= unused(errors)


@pytest.mark.parametrize("names", LOADED)
@pytest.mark.django_db
def test_file_is_loaded(project: Project, load: Callable[..., LoadResult], names: str) -> None:
    expected = LOADED[names]

    result = load_fixture(load, project, *names.split())

    assert [list(row) for row in stored_outputs(project)] == expected["outputs"]
    documents = project.documents.order_by("pk").values_list("doc_id", "references", "session")
    assert [list(row) for row in documents] == expected["documents"]
    assert stored_ratings(project) == rows_in(expected["ratings"])
    assert stored_scores(project) == rows_in(expected["scores"])
    assert expected["unused"].items() <= {part.column: part.rows for part in result.unused}.items()


@pytest.mark.parametrize("name", FILES)
def test_file_of_a_tool_is_read(name: str) -> None:
    assert_gives(*read(FIXTURES / name), FILES[name])


@pytest.mark.parametrize("name", RECORDS)
def test_records_are_read(tmp_path: Path, name: str) -> None:
    assert_gives(*read_records(tmp_path, RECORDS[name]["records"]), RECORDS[name])


@pytest.mark.parametrize("name", REFUSED)
def test_broken_record_is_refused_with_its_line(tmp_path: Path, name: str) -> None:
    tool, path, value, column, reason = REFUSED[name]
    good = GOOD[tool]
    # Columns of tables have dots in their names; without a path the record is another.
    changed = {**good, path: value} if path in good else path and with_part(good, path, value)

    assert_refused(tmp_path, good, changed or value, column, reason)


@pytest.mark.django_db
def test_spans_of_calls_to_models_are_conversations(
    project: Project, load: Callable[..., LoadResult]
) -> None:
    result = load_fixture(load, project, "spans.jsonl")

    called, told = CandidateOutput.objects.select_related("document", "system").order_by("pk")
    assert (called.text, told.text) == ("→ timetable({})", "At 08:10.")
    assert {called.system.name, told.system.name} == {"gpt-4o"}
    assert {called.document.session, told.document.session} == {"s9"}
    assert told.document.history()[1].calls[0].result == "08:10"
    unlisted = [(part.column, part.rows) for part in result.unused]
    assert unlisted == [("records without a text to rate", 1)]


@pytest.mark.parametrize(
    ("record", "name"),
    [
        (GOOD["harness"], "samples of lm-evaluation-harness"),
        (records_in("spans.jsonl")[1], "spans of OpenInference or OpenTelemetry GenAI"),
    ],
)
def test_shape_of_a_record_has_a_name(record: dict[str, Any], name: str) -> None:
    assert structure_of(record) == name


@pytest.mark.django_db
def test_comments_of_argilla_are_loaded(project: Project, load: Callable[..., LoadResult]) -> None:
    load_fixture(load, project, "argilla_records.json")

    assert Rating.objects.exclude(comment="").exists()


@pytest.mark.django_db(transaction=True)
def test_table_of_label_studio_is_read(project: Project, tmp_path: Path) -> None:
    name = "label_studio_export.csv"
    load_small(project, tmp_path, SmallFile("", name, {name: fixture(name)}))

    given = Rating.objects.filter(criterion__name="quality")
    assert Counter(given.values_list("annotator__name", "score")) == {
        **{("anna@example.org", score): 1 for score in (2, 3, 4, 5)},
        **{("bob@example.org", score): 1 for score in (1, 2, 4)},
    }


@pytest.mark.parametrize("ending", ["jsonl", "csv"])
def test_annotations_of_potato_without_texts_are_refused(ending: str) -> None:
    _, errors = read(FIXTURES / f"potato_annotations.{ending}")

    assert "which lack the texts" in errors.listed[0].message


def test_results_of_a_batch_without_its_requests_are_refused() -> None:
    rows, errors = read(FIXTURES / "openai_batch_results.jsonl")

    assert outputs(rows) == []
    assert [(error.line, error.column) for error in errors.listed] == [
        (1, "custom_id"),
        (2, "custom_id"),
    ]
    assert "load the file of the batch's" in errors.listed[0].message


def test_spans_of_phoenix_as_parquet_with_messages(tmp_path: Path) -> None:
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


@pytest.fixture
def members() -> dict[str, Any]:
    """The files in the zip that Inspect writes of a log."""
    log = json.loads(fixture("inspect_log.json"))
    samples = log.pop("samples")
    named = {f"samples/{part['id']}_epoch_{part['epoch']}.json": part for part in samples}
    return {"header.json": log, "summaries.json": [], **named}


def write_zip(folder: Path, members: dict[str, Any]) -> Path:
    path = folder / "log.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            written = content if isinstance(content, bytes) else json.dumps(content).encode()
            archive.writestr(name, written)
    return path


def test_zip_of_inspect_gives_what_its_json_gives(tmp_path: Path, members: dict[str, Any]) -> None:
    zipped, errors = read(write_zip(tmp_path, members))

    plain, _ = read(FIXTURES / "inspect_log.json")
    assert errors.total == 0
    assert outputs(zipped) == outputs(plain)
    assert scores(zipped) == scores(plain)


def test_sample_of_a_zip_that_is_not_json_is_named(tmp_path: Path, members: dict[str, Any]) -> None:
    _, errors = read(write_zip(tmp_path, members | {"samples/2_epoch_1.json": b"{"}))

    assert "samples/2_epoch_1.json" in errors.listed[0].message
    assert "is not JSON" in errors.listed[0].message
