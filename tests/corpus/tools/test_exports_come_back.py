"""What is exported for other tools loads again, unchanged."""

import io
import json
import re
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.test import Client

from annotations.models import Preference, Rating
from evaluations.corpus.store import LoadResult
from evaluations.models import CandidateOutput, Project, Score
from evaluations.reports.ratings.downloads import DOWNLOADS
from evaluations.reports.ratings.exported import dataset_of
from geval.files import hugging_face
from tests.conftest import load_texts

pytestmark = pytest.mark.django_db
Load = Callable[..., LoadResult]
HISTORY = [{"role": "user", "text": "When does it leave?", "time": "09:12"}]
CALL = {"name": "timetable", "arguments": "{}", "result": "08:10"}
OUTPUTS: list[dict[str, Any]] = [
    {"doc_id": "a", "system_id": "good", "source": "The ferry, “daily”\nat 8.", "output": "At 8.",
     "context": "harbour", "references": ["At eight."], "metadata": {"topic": "sea, wind"}},
    {"doc_id": "a", "system_id": "blank", "source": "The ferry, “daily”\nat 8.", "output": "",
     "context": "harbour", "references": ["At eight."], "metadata": {"topic": "sea, wind"}},
    {"doc_id": "b", "system_id": "good", "source": "=1+1", "output": "[not JSON",
     "session_id": "s"},
    {"doc_id": "c", "system_id": "good", "turns": HISTORY, "output": "At 08:10.",
     "session_id": "s"},
    {"doc_id": "c", "system_id": "bot", "session_id": "s",
     "turns": [*HISTORY, {"role": "assistant", "text": "Let me see.", "tool_calls": [CALL]}]},
    {"doc_id": "d", "system_id": "bot", "source": "Be helpful.", "rate": "session",
     "turns": [*HISTORY, {"role": "assistant", "text": "At 08:10."}]},
    {"session_id": "e", "system_id": "bot", "rate": "user", "turns": [
        *HISTORY, {"role": "assistant", "text": "At 08:10."}, {"role": "user", "text": "Thanks."}]},
    {"session_id": "f", "system_id": "bot", "rate": "assistant", "turns": [
        *HISTORY, {"role": "assistant", "text": "One.", "name": "Bo"},
        {"role": "assistant", "text": "Two.", "tool_calls": [CALL]}, *HISTORY]},
]  # fmt: skip
RATINGS = (
    "doc_id,system_id,criterion,annotator,score,comment\n"
    'a,good,quality,anna,4,"Right, but late."\na,good,quality,bob,3,\n'
    'a,good,is it fluent?,anna,0.5,"Right, but late."\nc,bot,quality,anna,5,\n'
    "d,bot,quality,bob,1,=odd\n"
)
SCORES = (
    "doc_id,system_id,criterion,judge,score\na,good,quality,gpt-4o,4.25\nb,good,quality,gpt-4o,2\n"
)
PREFERENCES = "doc_id,system_a,system_b,winner,annotator\na,good,blank,a,anna\n"
FORMS = ("hugging-face", "label-studio", "argilla")
# What people call themselves and write, though spreadsheets take it for a formula.
ODD_NAMES = ("@alice", "+1", "-b", "=x", "O'Neil", "'quoted'")
ODD_TEXTS = ("@all", "'=guarded", "-1 for this", "''=twice", "'", "=SUM(A1)")
# The record of answers, which cannot be loaded again.
RECORDS = ("answers", "decisions", "participants")


@pytest.fixture
def filled(project: Project, load: Load) -> Project:
    lines = "\n".join(map(json.dumps, OUTPUTS))
    files = {"o.jsonl": lines, "r.csv": RATINGS, "s.csv": SCORES, "p.csv": PREFERENCES}
    load(project, files)
    return project


def contents(project: Project) -> dict[str, Any]:
    """Documents, outputs, ratings and scores, by names."""
    outputs = CandidateOutput.objects.of_project(project).select_related(
        "document__conversation", "system"
    )
    of = ("output__document__doc_id", "output__system__name", "criterion__name")
    return {
        "outputs": {
            (o.document.doc_id, o.system.name, o.document.source, o.text, o.document.context,
             tuple(o.document.references), o.document.session, str(o.document.metadata),
             o.document.history(), o.document.later(), o.said, o.is_session)
            for o in outputs
        },
        "ratings": set(Rating.objects.filter(criterion__project=project).values_list(
            *of, "annotator__name", "score", "comment")),
        "scores": set(Score.objects.filter(run__project=project).values_list(
            *of, "run__judge__name", "value")),
    }  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_a_project_comes_back(filled: Project, tmp_path: Path, form: str) -> None:
    path = tmp_path / "exported"
    call_command(
        "export_project", "small", str(path), "--as", form, "--no-pseudonyms",
        stdout=io.StringIO(),
    )  # fmt: skip
    said = io.StringIO()

    call_command("load", "copy", str(path), stdout=said)

    copy = Project.objects.get(slug="copy")
    before, after = contents(filled), contents(copy)
    for kind, found in before.items():
        assert after[kind] == found, kind
    unused = [line for line in said.getvalue().splitlines() if "not used" in line]
    assert all(re.search("(ratings|preferences).parquet", line) for line in unused)
    kept = Preference.objects.filter(output_a__document__project=copy).count()
    assert kept == (1 if form == "hugging-face" else 0)


@pytest.mark.parametrize("name", [n for n in DOWNLOADS if n.split(".")[0] not in RECORDS])
def test_download_loaded_again_changes_nothing(filled: Project, tmp_path: Path, name: str) -> None:
    odd = [
        {"doc_id": "a", "system_id": "good", "criterion": "quality", "annotator": who, "score": 2,
         "comment": comment}
        for who, comment in zip(ODD_NAMES, ODD_TEXTS, strict=True)
    ]  # fmt: skip
    chosen = [
        {"doc_id": "a", "system_a": "good", "system_b": "blank", "winner": "tie", "annotator": who}
        for who in ODD_NAMES
    ]
    load_texts(tmp_path, filled, {f"{n}.jsonl": "\n".join(map(json.dumps, rows))
                                  for n, rows in enumerate((odd, chosen))})  # fmt: skip
    before, choices = contents(filled), Preference.objects.count()
    assert {rating[3] for rating in before["ratings"]} >= set(ODD_NAMES)
    path = tmp_path / name
    content = list(DOWNLOADS[name].of(filled, pseudonyms=False))
    path.write_bytes(b"".join(c if isinstance(c, bytes) else c.encode() for c in content))
    if path.suffix == ".zip":
        shutil.unpack_archive(path, path := tmp_path / "unpacked")
    printed = io.StringIO()

    call_command("load", "small", str(path), stdout=printed)

    assert "Nothing has changed" in printed.getvalue()
    assert (contents(filled), Preference.objects.count()) == (before, choices)


def test_a_dataset_without_arrow_is_json_lines(
    filled: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hugging_face, "find_spec", lambda _name: None)
    folder = tmp_path / "exported"

    hugging_face.write_folder(dataset_of(filled, pseudonyms=False), folder)
    call_command("load", "copy", str(folder), stdout=io.StringIO())

    assert {path.suffix for path in folder.iterdir()} == {".md", ".jsonl"}
    assert contents(Project.objects.get(slug="copy")) == contents(filled)


def test_the_page_and_the_api_give_the_same_files(
    filled: Project, as_role: Callable[[str], Client]
) -> None:
    browser = as_role("owner")

    page = browser.get("/p/small/annotate/").content.decode()
    for name in ("label-studio.json", "argilla.json"):
        assert f"/p/small/annotate/export/{name}" in page
    tasks = b"".join(browser.get("/p/small/annotate/export/label-studio.json").streaming_content)
    called = b"".join(browser.get("/api/v1/projects/small/exports/label-studio.json"))
    zipped = b"".join(browser.get("/p/small/annotate/export/hugging-face.zip").streaming_content)

    assert len(json.loads(tasks)) == 10
    assert tasks == called
    names = zipfile.ZipFile(io.BytesIO(zipped)).namelist()
    assert {"README.md", "outputs.parquet", "ratings.parquet"} <= set(names)
    assert browser.get("/p/small/annotate/export/other.json").status_code == 404


def test_a_path_that_exists_is_left_alone(filled: Project, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="already exists"):
        call_command("export_project", "small", str(tmp_path), "--as", "hugging-face")


def test_metrics_of_a_report(
    small_project: Project, load: Load, as_role: Callable[[str], Client]
) -> None:
    scores = "doc_id,system_id,criterion,judge,score\n" + "".join(
        f"d{d},{system},fluency,gpt/4 (new),{score + d % 2}\n"
        for d in (1, 2, 3)
        for system, score in (("good", 4), ("odd", 1))
    )
    load(small_project, {"s.csv": scores})
    found = as_role("owner").get("/p/small/report/export/mlflow/")

    metrics = json.loads(found.content)

    assert metrics["gpt_4 _new_/fluency/spearman/dataset"] > 0.5
    assert all(isinstance(value, float) for value in metrics.values())
    assert metrics["gpt_4 _new_/fluency/outputs"] == 6
