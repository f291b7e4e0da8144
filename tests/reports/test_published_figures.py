"""The published figures of 20-sample replies come out of what users do: load a release, then read
the report. No step of their own rounds or mends anything."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evaluations.models import Project
from evaluations.reports.report import build_report
from geval.reproduction.topical_chat import CRITERIA, SAMPLED

pytestmark = pytest.mark.django_db


@pytest.mark.slow
@pytest.mark.parametrize("label", SAMPLED)
def test_all_cells_of_chiang_and_lee_come_out_of_load_and_report(
    label: str, project: Project, load: Callable[..., Any], benchmarks: Path
) -> None:
    name, published = SAMPLED[label]
    folder = benchmarks / "topical_chat"
    corpus = ("outputs.jsonl.gz", "human_ratings.csv.gz")
    load(project, {part: (folder / part).read_bytes() for part in corpus})
    items = json.loads(gzip.decompress((folder / name).read_bytes()))
    load(project, {"replies.json": json.dumps(items)}, judge="G-Eval", first_digit=True)

    report = build_report(project)

    found = {
        result.criterion: result.judges[0].correlations.estimates
        for result in report.criteria
        if result.judges
    }
    figures = [
        value
        for criterion in CRITERIA
        for value in (
            found[criterion]["pearson"]["dataset"].value,
            found[criterion]["kendall"]["summary"].value,
        )
    ]
    assert [round(value or 0, 3) for value in figures] == list(published)
