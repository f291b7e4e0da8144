"""Where documents have one output each, nothing can be ranked within them: the report says so, and
offers the dataset level by itself."""

import json
import random
from collections.abc import Callable

import pytest

from evaluations.corpus.store import LoadResult
from evaluations.models import Project
from evaluations.reports.report import build_report
from geval.reports.downloads.report_json import as_json
from geval.reports.downloads.tables import as_markdown, as_text
from geval.reports.options import ReportOptions
from geval.reports.verdicts.verdict import Verdict

pytestmark = pytest.mark.django_db


@pytest.fixture
def single(project: Project, load: Callable[..., LoadResult]) -> Project:
    """Forty documents with one output each, three raters and a good judge."""
    rng = random.Random(1)
    outputs = ["doc_id,system_id,source,output"]
    ratings = ["doc_id,system_id,criterion,annotator,score"]
    scores = ["doc_id,system_id,criterion,judge,score"]
    for document in range(40):
        key, quality = f"d{document},bot", rng.uniform(1, 5)
        outputs.append(f"{key},Text {document}.,Output.")
        for rater in ("ann", "bob", "eve"):
            ratings.append(
                f"{key},quality,{rater},{round(min(5, max(1, rng.gauss(quality, 0.4))))}"
            )
        scores.append(f"{key},quality,metric,{round(min(5, max(1, rng.gauss(quality, 0.3))))}")
    tables = {"outputs.csv": outputs, "ratings.csv": ratings, "scores.csv": scores}
    load(project, {name: "\n".join(lines) for name, lines in tables.items()})
    return project


def test_the_report_says_why_and_which_level_ranks_all_outputs(single: Project) -> None:
    report = build_report(single, options=ReportOptions(usual_level="dataset"))

    assert report.criteria[0].verdict == Verdict.TOO_EARLY
    why = "Each document has one output"
    assert f"Verdict: too early to say. {why}" in as_text(report)
    assert "report small --level dataset`" in as_text(report)
    assert f"**Too early to say.** {why}" in as_markdown(report)
    verdict = json.loads(as_json(report))["criteria"]["quality"]["verdict"]
    assert verdict["missing"].startswith(why)
    assert verdict["level_to_try"] == "dataset"


def test_the_dataset_level_has_a_verdict_and_offers_nothing_more(single: Project) -> None:
    report = build_report(single, options=ReportOptions(level="dataset"))

    assert report.criteria[0].verdict == Verdict.SPOT_CHECKS
    assert report.criteria[0].level_to_try is None
    assert "Verdict: use with spot checks." in as_text(report)
