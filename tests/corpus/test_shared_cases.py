"""Files that once went wrong, in `../shared/cases`, where that folder exists."""

from pathlib import Path

import pytest

from evaluations.models import Project
from geval.files.rows import LoadError
from tests.conftest import CHECKOUT
from tests.corpus.small_files import SmallFile
from tests.corpus.test_small_files import load

FOLDER = CHECKOUT.parent / "shared" / "cases" / "files"
pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(not FOLDER.is_dir(), reason="the folder ../shared/cases is not here"),
]
# What loading gives, by kind; or a phrase of the error.
READ = {
    "K12b-nan-inspect": {"documents": 8, "outputs": 8, "scores": 4},
    "K12c-half-emoji": {"documents": 1, "outputs": 1},
    "K12d-pandas-columns": {"documents": 2, "outputs": 2},
    "K12f-objects-one-after-another": {"documents": 4, "outputs": 8},
    "K12g-numbers-as-texts": {"documents": 2, "outputs": 2},
    "K13a-label-studio-csv": {"documents": 4, "outputs": 4, "ratings": 8},
    "K13b-lmeval-two-filters": {"documents": 4, "outputs": 4, "scores": 8},
    "K13c-alpaca-eval": {"documents": 7, "outputs": 14, "verdicts": 5},
    "K13d-promptfoo-csv": {"documents": 2, "outputs": 3, "scores": 3},
    "K13e-lmeval-old": {"documents": 4, "outputs": 4, "scores": 8},
    "K13g-arena": {"documents": 4, "outputs": 8, "preferences": 4},
    "K13j-lmeval-filtered-text": {"documents": 4, "outputs": 4, "scores": 4},
    "K14a-sep-line": {"documents": 4, "outputs": 8},
    "K14b-pipe": {"documents": 4, "outputs": 8},
    "K15a-names": {"documents": 4, "outputs": 8, "ratings": 8},
    "K17a-numbered-words": {"documents": 4, "outputs": 8, "ratings": 8},
    "K17b-missing-words": {"documents": 4, "outputs": 8, "ratings": 1},
    "K17d-lists": {"documents": 4, "outputs": 8, "ratings": 8},
    "K17e-apostrophes": {"documents": 4, "outputs": 8, "ratings": 8},
    "K22a-source-differs-by-spaces": {"documents": 2, "outputs": 4},
    "K24a-scale-guess-small": {"documents": 6, "outputs": 6, "ratings": 6},
    "K24c-release-replies": {"documents": 1, "outputs": 1, "ratings": 1, "replies": 1},
    "K2a-argilla-status-list": {"documents": 4, "outputs": 4, "ratings": 4},
    "K2c-argilla-status-nested": {"documents": 3, "outputs": 3, "ratings": 3},
}
REFUSED = {
    "K12a-nan-jsonl": "expected a number, found 'inf'",
    "K13i-mtbench-judgments": "load the outputs first",
    "K14d-html-as-xls": "HTML",
    "K16a-empty-file": "a header and no rows",
    "K3a-column-lost-dates-xlsx": "expected a number",
    "K3b-column-lost-dates-csv": "expected a number",
    "K3e-likert-column-lost": "expected a number",
    "K4a-missing-code-minus1": "-1 is off 1-5",
    "K5a-thousands": "may be a thousand",
}


def case(name: str) -> SmallFile:
    files = {
        path.name: path.read_bytes() for path in (FOLDER / name).iterdir() if path.name != "README"
    }
    return SmallFile("", name, files)


@pytest.mark.parametrize("name", READ)
def test_shared_case_is_read(project: Project, tmp_path: Path, name: str) -> None:
    result = load(project, tmp_path, case(name))

    tallies = {kind: tally["created"] for kind, tally in result.as_json().items()}
    assert {kind: count for kind, count in tallies.items() if count} == READ[name]
    if name == "K24c-release-replies":
        assert any("1 raw reply is off" in note for note in result.notes)


@pytest.mark.parametrize("name", REFUSED)
def test_shared_case_is_refused(project: Project, tmp_path: Path, name: str) -> None:
    with pytest.raises(LoadError) as raised:
        load(project, tmp_path, case(name))

    assert any(REFUSED[name] in error.message for error in raised.value.errors)


def test_shared_cases_are_all_held() -> None:
    described = {path.name for path in FOLDER.iterdir() if any(path.glob("[!R]*"))}

    assert described == READ.keys() | REFUSED.keys()
