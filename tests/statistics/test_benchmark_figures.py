"""On SummEval, QAGS-XSum and Topical-Chat the report's JSON gives the expected figures, each to
1e-6."""

import json
from pathlib import Path
from typing import Any

import pytest

from evaluations.corpus.store import LoadOptions, LoadResult, load_files
from evaluations.models import Project
from evaluations.reports.data import load_data
from evaluations.reports.report import build_report
from geval.files.readers import InputFile
from geval.reports.downloads.report_json import as_json
from geval.statistics.agreement import coincidences
from geval.statistics.jackknife import LeftOut

pytestmark = pytest.mark.django_db
EXACT = 1e-6


def load_folder(project: Project, folder: Path, *, judge: str) -> LoadResult:
    return load_files(
        project,
        [InputFile(path, path.name) for path in sorted(folder.iterdir())],
        about=LoadOptions(judge=judge),
    )


def reported(project: Project) -> dict[str, Any]:
    return json.loads(as_json(build_report(project)))["criteria"]


def check_correlations(
    found: dict[str, Any], expected: dict[str, Any], *, level_names: dict[str, str]
) -> int:
    checked = 0
    for coefficient in ("pearson", "spearman", "kendall"):
        for level, value in expected.get(coefficient, {}).items():
            here = found[coefficient][level_names.get(level, level)]["value"]
            assert here == pytest.approx(value, abs=EXACT), (coefficient, level)
            checked += 1
    for name in ("documents_used", "turns_used"):
        if name in expected:
            assert found["documents_used"] == expected[name]
            checked += 1
    return checked


def test_summeval(project: Project, benchmarks: Path) -> None:
    expected = json.loads((benchmarks / "expected.json").read_text())

    loaded = load_folder(project, benchmarks / "summeval", judge="file")
    again = load_folder(project, benchmarks / "summeval", judge="file")

    assert (loaded.outputs.created, loaded.ratings.created, loaded.scores.created) == (
        1600,
        19_200,
        38_400 + 4_800,
    )
    assert not again.changed
    criteria = reported(project)
    for judge, by_criterion in expected["judges"].items():
        for criterion, values in by_criterion.items():
            assert (
                check_correlations(criteria[criterion]["judges"][judge], values, level_names={})
                >= 3
            )
    for judge, by_criterion in expected["metrics"].items():
        for criterion, values in by_criterion.items():
            assert (
                check_correlations(criteria[criterion]["judges"][judge], values, level_names={})
                >= 3
            )
    data = load_data(project, [], list(project.criteria.all()))
    for criterion, values in expected["agreement"].items():
        agreement = criteria[criterion]["agreement"]
        ratings = data.humans[project.criteria.get(name=criterion).pk].ratings
        documents = LeftOut.each(data.units.documents)
        for measurement, value in values["krippendorff_alpha"].items():
            alpha = coincidences(data.units, ratings, documents).alpha(measurement).value
            assert alpha == pytest.approx(value, abs=EXACT)
            if measurement != "nominal":  # which reports leave out
                assert agreement["krippendorff_alpha"][measurement]["value"] == pytest.approx(
                    alpha, abs=EXACT
                )
        for annotator, loo in values["leave_one_out_summary_spearman"].items():
            found = agreement["leave_one_out_summary_spearman"][annotator]
            assert found["value"] == pytest.approx(loo["value"], abs=EXACT)
            assert found["documents_used"] == loo["documents_used"]


def test_qags_xsum(project: Project, benchmarks: Path) -> None:
    expected = json.loads((benchmarks / "expected.json").read_text())[
        "qags_xsum_unieval_dataset_level"
    ]
    path = benchmarks / "qags_xsum" / "qags_xsum_unieval.json"

    load_files(project, [InputFile(path, path.name)], about=LoadOptions(judge="unieval"))

    found = reported(project)
    for criterion, values in expected.items():
        for coefficient, value in values.items():
            here = found[criterion]["judges"]["unieval"][coefficient]["dataset"]["value"]
            assert here == pytest.approx(value, abs=EXACT)


def test_topical_chat(project: Project, benchmarks: Path) -> None:
    expected = json.loads((benchmarks / "expected.json").read_text())["topical_chat_unieval"]
    path = benchmarks / "topical_chat" / "topical_chat_unieval.json"

    load_files(project, [InputFile(path, path.name)], about=LoadOptions(judge="unieval"))

    found = reported(project)
    for criterion, values in expected.items():
        checked = check_correlations(
            found[criterion]["judges"]["unieval"], values, level_names={"turn": "summary"}
        )
        assert checked == 7
