"""What judges are compared with: means of ratings unless another human score is chosen, which is
said wherever the numbers are."""

import json
from collections.abc import Callable
from importlib import import_module

import numpy as np
import pytest
from django.apps import apps
from django.test import Client

from evaluations.models import Project
from evaluations.reports.report import build_report
from evaluations.reports.serving import live
from geval.reports.downloads.report_json import as_json
from geval.reports.options import ReportOptions
from geval.reports.report import Report
from geval.reports.words import human_score_note
from geval.statistics.consensus import HumanScore
from tests.made_up_files import files_of

pytestmark = pytest.mark.django_db
Load = Callable[..., object]


@pytest.fixture
def rated(project: Project, load: Load) -> Project:
    """Thirty documents by three systems, rated by two of four people each: ada and ben are strict.
    On fluency, only a mean is stated. The judge gives what is good, with noise."""
    live.forget()
    rng = np.random.default_rng(8)
    outputs, ratings, scores = [], [], []
    for document in range(30):
        for system in range(3):
            key, good = f"d{document},s{system}", float(np.clip(rng.normal(3.2, 0.9), 1, 5))
            outputs.append(f"{key},Source.,Text {document} {system}.\n")
            for name in rng.choice(["ada", "ben", "cleo", "dan"], 2, replace=False):
                strict = 1.0 if name in ("ada", "ben") else -0.4
                value = int(np.clip(round(good - strict + rng.normal(0, 0.4)), 1, 5))
                ratings.append(f"{key},coherence,{name},{value}\n")
            judged = np.clip(good + rng.normal(0, 0.5), 1, 5)
            scores.append(f"{key},coherence,near,{judged:.2f}\n")
            scores.append(f"{key},fluency,near,{judged:.2f}\n")
            ratings.append(f"{key},fluency,mean,{good:.2f}\n")
    load(project, files_of(outputs, ratings, scores))
    project.annotators.filter(name="mean").update(kind="mean")
    return project


def report(project: Project, kind: HumanScore) -> Report:
    return build_report(project, options=ReportOptions(human_score=kind))


def rho(found: Report) -> float:
    value = found.criteria[0].judges[0].correlations.estimates["spearman"]["dataset"].value
    assert value is not None
    return value


def test_the_mean_is_the_default_and_changes_nothing(rated: Project) -> None:
    usual = build_report(rated)

    assert as_json(report(rated, "mean")) == as_json(usual)
    assert human_score_note(usual) == ""
    assert "human_score" not in json.loads(as_json(usual))


def test_adjusting_for_severity_helps_where_people_rated_different_outputs(rated: Project) -> None:
    assert rho(report(rated, "severity-adjusted")) > rho(report(rated, "mean")) + 0.05


def test_outputs_without_the_score_are_counted(rated: Project, load: Load) -> None:
    load(rated, {"r.csv": "doc_id,system_id,criterion,annotator,score\n"
                          "d0,s0,coherence,eva,3\nd1,s0,coherence,eva,4\n"})  # fmt: skip
    ids = rated.annotators.exclude(name__in=("ada", "ben")).values_list("pk", flat=True)
    options = ReportOptions(human_score="severity-adjusted", annotators=tuple(ids))

    found = build_report(rated, options=options)

    rest = found.criteria[0]
    usual = build_report(rated, options=ReportOptions(annotators=tuple(ids))).criteria[0]
    assert rest.rated_outputs + rest.unscored == usual.rated_outputs


def test_the_page_its_address_and_the_api_take_it(
    rated: Project, as_role: Callable[[str], Client]
) -> None:
    reader = as_role("viewer")

    text = reader.get("/p/small/report/", {"human_score": "dawid-skene"}).content.decode()
    assert "human score: Dawid-Skene" in text
    paper = reader.get("/p/small/report/paper/", {"human_score": "dawid-skene"}).content.decode()
    assert "human scores by Dawid and Skene" in paper
    assert "human score:" not in reader.get("/p/small/report/").content.decode()
    named = reader.get("/p/small/report/export/csv/?human_score=dawid-skene")["Content-Disposition"]
    assert named == 'attachment; filename="small-report-dawid-skene.csv"'
    wrong = reader.get("/p/small/report/", {"human_score": "mode"}).content.decode()
    assert "human_score is mean, median" in wrong
    found = reader.get("/api/v1/projects/small/report", {"human_score": "median"}).json()
    assert found["human_score"]["name"] == "median of ratings"


def test_mace_is_refused_and_kept_views_are_by_dawid_and_skene(
    rated: Project, as_role: Callable[[str], Client]
) -> None:
    refused = as_role("viewer").get("/api/v1/projects/small/report", {"human_score": "mace"})
    rated.share_links.create(digest="d", query="level=system&human_score=mace")
    rated.snapshots.create(sha256="1", content="{}", query="human_score=mace")
    rated.kept_reports.create(view="human_score=mace", code="1")
    migration = import_module("evaluations.migrations.0068_views_by_dawid_skene")

    migration.rename(apps, None)

    assert refused.status_code == 422
    assert "mace was removed: use dawid-skene" in refused.content.decode()
    assert rated.share_links.get().query == "level=system&human_score=dawid-skene"
    assert rated.snapshots.get().query == "human_score=dawid-skene"
    assert not rated.kept_reports.exists()
