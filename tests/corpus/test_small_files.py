"""The reading contract: what is read, asked and refused of files as people and programs write
them."""

import re
from collections import Counter
from pathlib import Path

import pytest

from annotations.models import Rating
from evaluations.corpus.recognised import files_of_project
from evaluations.corpus.store import LoadError, load_files
from evaluations.models import CandidateOutput, Project
from geval.files.load_results import LoadResult
from geval.files.recognised import UnclearColumnsError, as_input
from geval.files.rows import LoadOptions
from geval.files.unused import Unused
from tests.corpus.small_files import SMALL_FILES, SmallFile

pytestmark = pytest.mark.django_db
CONTRACT = Path(__file__).resolve().parents[2] / "docs" / "data-format.md"


def load(project: Project, folder: Path, small: SmallFile) -> LoadResult:
    paths = []
    for name, content in small.files.items():
        path = folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        paths.append((path, name))
    files = [as_input(file, is_chosen=False) for file in files_of_project(project, paths, {})]
    return load_files(project, files, about=LoadOptions(judge="file"))


@pytest.mark.parametrize("small", [s for s in SMALL_FILES if s.reads], ids=str)
def test_small_file_is_read(project: Project, tmp_path: Path, small: SmallFile) -> None:
    result = load(project, tmp_path, small)

    tallies = {kind: tally["created"] for kind, tally in result.as_json().items()}
    assert {kind: count for kind, count in tallies.items() if count} == small.reads
    rated = Counter(Rating.objects.values_list("score", flat=True))
    assert small.ratings is None or rated == small.ratings
    assert not small.scale or str(project.criteria.get().scale) == small.scale
    people = tuple(project.annotators.order_by("name").values_list("name", flat=True))
    assert small.raters is None or people == small.raters
    criteria = tuple(project.criteria.order_by("name").values_list("name", flat=True))
    assert small.criteria is None or criteria == small.criteria
    unused = [column.column for column in result.unused]
    for phrase in small.unused:
        assert any(phrase in column for column in unused)
    for phrase in small.notes:
        assert any(phrase in note for note in result.notes)


@pytest.mark.parametrize("small", [s for s in SMALL_FILES if s.asks], ids=str)
def test_small_file_is_asked_about(project: Project, tmp_path: Path, small: SmallFile) -> None:
    with pytest.raises(UnclearColumnsError, match=re.escape(small.asks)):
        load(project, tmp_path, small)


@pytest.mark.parametrize("small", [s for s in SMALL_FILES if s.errors], ids=str)
def test_small_file_is_refused(project: Project, tmp_path: Path, small: SmallFile) -> None:
    with pytest.raises(LoadError) as raised:
        load(project, tmp_path, small)

    places = {(error.line, error.column): error.message for error in raised.value.errors}
    for line, column, phrase in small.errors:
        assert phrase in places[line, column]
    assert not project.documents.exists()


def test_half_characters_are_replaced_and_noted(project: Project, tmp_path: Path) -> None:
    row = '{"system_id": "s", "source": "The ferry.", "output": "caf\\udc80"}\n'

    result = load(project, tmp_path, SmallFile("", "", {"t.jsonl": row}))

    assert CandidateOutput.objects.get().text == "caf\N{REPLACEMENT CHARACTER}"
    assert any("cannot be stored" in column.column for column in result.unused)


def test_names_of_unused_columns_can_be_stored() -> None:
    unused = Unused()

    unused.add("t.csv", "a\udc80")

    assert list(unused.rows) == [("t.csv", "a\N{REPLACEMENT CHARACTER}")]


def test_small_files_cover_each_row_of_the_contract() -> None:
    section = (
        CONTRACT.read_text().split("## What is read, asked and refused\n")[1].split("\n## ")[0]
    )
    rows = {line.split("|")[1].strip() for line in section.splitlines() if line.startswith("| ")}

    assert {small.row for small in SMALL_FILES} == rows - {"of a file", "---"}
    assert len(SMALL_FILES) >= 120
