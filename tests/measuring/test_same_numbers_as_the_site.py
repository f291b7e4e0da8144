"""`geval.measure` gives the numbers of the site, to the last digit, from the same files."""

import json
from pathlib import Path

import pytest

import geval
from evaluations.corpus.store import load_files
from evaluations.models import Project
from evaluations.reports.report import build_report
from geval.files.readers import InputFile
from geval.reports.downloads.report_json import as_json
from geval.reports.options import ReportOptions
from tests.measuring.conftest import made_up, written

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("seed", "documents", "systems", "level"),
    [(1, 30, 4, "summary"), (2, 12, 3, "system"), (3, 25, 1, "dataset"), (4, 3, 2, "summary")],
)
def test_a_report_of_the_same_files_is_the_same(
    project: Project, tmp_path: Path, seed: int, documents: int, systems: int, level: str
) -> None:
    files = written(tmp_path, made_up(seed, documents=documents, systems=systems))
    load_files(project, [InputFile(path, path.name) for path in files])
    site = json.loads(as_json(build_report(project, options=ReportOptions(level=level))))  # type: ignore[arg-type]

    measured = geval.measure(files, level=level).to_dict()  # type: ignore[arg-type]

    assert measured | {"project": project.slug} == site


def test_on_summeval_both_are_the_same(project: Project, benchmarks: Path) -> None:
    files = [benchmarks / "summeval" / f"{name}.gz"
             for name in ("outputs.jsonl", "human_ratings.csv", "llm_scores.csv")]  # fmt: skip
    load_files(project, [InputFile(path, path.name) for path in files])

    site = json.loads(as_json(build_report(project)))

    assert geval.measure(files).to_dict() | {"project": project.slug} == site
