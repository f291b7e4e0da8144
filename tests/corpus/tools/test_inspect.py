"""Logs of Inspect, as JSON and as the zip that it writes."""

import json
import zipfile
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
    read,
    read_records,
    scores,
    stored_outputs,
    stored_scores,
    with_part,
)


@pytest.mark.django_db
def test_samples_with_scorers_values(project: Project, load: Callable[..., LoadResult]) -> None:
    result = load_fixture(load, project, "inspect_log.json")

    assert stored_outputs(project) == [
        ("openai/gpt-4o-mini", ASKED, ANSWERED),
        ("openai/gpt-4o-mini", ASKED, "I do not know."),
        ("openai/gpt-4o-mini", LATER, SAID),
    ]
    found = project.documents.order_by("pk").values_list("doc_id", "references", "session")
    assert list(found) == [
        ("1", ["08:10"], ""),
        ("1, epoch 2", ["08:10"], "1"),
        ("2", ["twelve", "12"], ""),
    ]
    assert stored_scores(project) == {
        ("includes", "includes", 1.0, ANSWERED),
        ("includes", "includes", 0.0, "I do not know."),
        ("includes", "includes", 1.0, SAID),
    }
    assert "sample.scores.includes.explanation" in {one.column for one in result.unused}


def log() -> dict[str, Any]:
    return dict(json.loads(fixture("inspect_log.json")))


def as_zip(folder: Path, members: dict[str, Any]) -> Path:
    path = folder / "log.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            written = content if isinstance(content, bytes) else json.dumps(content).encode()
            archive.writestr(name, written)
    return path


def members_of(whole: dict[str, Any]) -> dict[str, Any]:
    samples = whole.pop("samples")
    return {
        "header.json": whole,
        "summaries.json": [],
        **{f"samples/{one['id']}_epoch_{one['epoch']}.json": one for one in samples},
    }


def test_the_zip_gives_what_the_json_gives(tmp_path: Path) -> None:
    plain = tmp_path / "log.json"
    plain.write_text(json.dumps(log(), indent=1))

    zipped, errors = read(as_zip(tmp_path, members_of(log())))

    assert errors.total == 0
    assert outputs(zipped) == outputs(read(plain)[0])
    assert scores(zipped) == scores(read(plain)[0])


def test_a_sample_of_a_zip_that_is_not_json_is_named(tmp_path: Path) -> None:
    members = members_of(log()) | {"samples/2_epoch_1.json": b"{"}

    _, errors = read(as_zip(tmp_path, members))

    assert "samples/2_epoch_1.json" in errors.listed[0].message
    assert "is not JSON" in errors.listed[0].message


def test_long_texts_that_a_log_keeps_apart(tmp_path: Path) -> None:
    record = with_part(first(), "sample.attachments", {"abc": "The long question?"})
    record = with_part(record, "sample.input", "attachment://abc")

    rows, _ = read_records(tmp_path, [record])

    assert outputs(rows)[0][2] == "The long question?"


def first() -> dict[str, Any]:
    whole = log()
    return {"eval": whole["eval"], "sample": whole["samples"][0]}


BROKEN: dict[str, tuple[str, Any, str, str]] = {
    "an input that is a number": (
        "sample.input",
        True,
        "sample.input",
        "expected a text or messages",
    ),
    "scores that are a list": (
        "sample.scores",
        [1],
        "sample.scores",
        "expected an object, found a list",
    ),
    "a name that is a list": ("sample.id", [1], "sample.id", "expected a name, found a list"),
}


@pytest.mark.parametrize(("path", "value", "column", "reason"), BROKEN.values(), ids=BROKEN)
def test_a_broken_record_is_refused_with_its_line(
    tmp_path: Path, path: str, value: Any, column: str, reason: str
) -> None:
    good = first()

    assert_refused(tmp_path, good, with_part(good, path, value), column, reason)
