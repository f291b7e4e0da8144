"""Criteria of labels without an order on a site: loaded, reported, kept apart from statistics of
numbers, judged, archived."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.exceptions import ValidationError
from django.test import Client

import geval
from annotations.models import Rating
from assurance.certifying.certificates import certify, read_requirements, what_changed
from evaluations.corpus.store import load_files
from evaluations.models import Criterion, Project
from evaluations.reports.data import load_data
from evaluations.reports.report import build_report
from evaluations.reports.serving.live import live_data
from evaluations.reports.serving.parts import REPORT, ReportView
from geval.files.readers import InputFile
from geval.files.rows import LoadError
from geval.llm.scoring import Scored
from geval.reports.downloads.report_json import as_json
from geval.reports.options import ReportOptions
from geval.statistics.scales import Scale, problems_of_scale
from tests.measuring.test_labels_without_an_order import intents

pytestmark = pytest.mark.django_db


def written(folder: Path, rows: list[dict[str, Any]]) -> list[InputFile]:
    """Outputs, an expert's labels and a judge's, a row for each; and ratings on a scale."""
    outputs, ratings, scores = (folder / f"{name}.jsonl" for name in ("a", "b", "c"))
    about = [{"doc_id": row["id"], "system_id": "bot"} for row in rows]
    texts = [
        {
            **named,
            "source": row["question"],
            "output": f"Answer to {row['id']}",
            "metadata.language": "de" if number % 3 else "en",
        }
        for number, (named, row) in enumerate(zip(about, rows, strict=True))
    ]
    people = [
        {**named, "criterion": criterion, "annotator": "eve", "score": score}
        for named, row in zip(about, rows, strict=True)
        for criterion, score in (("intent", row["human"]), ("tone", 1 + len(row["id"]) % 5))
    ]
    judged = [
        {**named, "criterion": "intent", "judge": "gpt", "score": row["judge"]}
        for named, row in zip(about, rows, strict=True)
    ]
    for path, content in ((outputs, texts), (ratings, people), (scores, judged)):
        path.write_text("".join(json.dumps(line) + "\n" for line in content))
    return [InputFile(path, path.name) for path in (outputs, ratings, scores)]


@pytest.fixture
def labelled(project: Project, tmp_path: Path) -> Project:
    names = {"1": "billing", "2": "shipping", "3": "refund"}
    project.criteria.create(
        name="intent", scale_min=1, scale_max=3, scale_labels=names, is_ordered=False
    )
    load_files(project, written(tmp_path, intents(right=(0.9, 0.8, 1.0))))
    return project


def test_words_need_a_criterion_of_labels(project: Project, tmp_path: Path) -> None:
    with pytest.raises(LoadError) as refused:
        load_files(project, written(tmp_path, intents()))

    first, second, *_others = map(str, refused.value.errors)
    assert "Create this criterion first" in first
    assert "expected a number" in second


def test_a_site_and_the_library_have_the_same_numbers(labelled: Project, tmp_path: Path) -> None:
    site = json.loads(as_json(build_report(labelled)))

    measured = geval.measure(
        [file.path for file in written(tmp_path, intents(right=(0.9, 0.8, 1)))],
        labels={"intent": ["billing", "shipping", "refund"]},
    )

    assert site["labels"] == measured.to_dict()["labels"]
    assert list(site["criteria"]) == ["tone"]
    assert site["labels"][0]["judges"][0]["kappa"]["value"] == pytest.approx(0.85)


def test_statistics_of_numbers_do_not_see_labels(labelled: Project) -> None:
    criterion, judge = labelled.criteria.get(name="intent"), labelled.judges.get()
    criteria = list(labelled.criteria.all())

    for data in (load_data(labelled, [judge], criteria), live_data(labelled)):
        assert np.isnan(data.humans[criterion.pk].mean).all()
        assert not len(data.humans[criterion.pk].ratings)
        assert (criterion.pk, judge.pk) not in data.judges
    view = ReportView(labelled, REPORT, ReportOptions())
    assert view.report.labels[0].outputs == 300
    assert np.isnan(view.everything.humans[criterion.pk].mean).all()


def test_the_report_in_the_api_has_labels(
    labelled: Project, as_role: Callable[[str], Client]
) -> None:
    client = as_role("owner")

    report = client.get(f"/api/v1/projects/{labelled.slug}/report").json()
    criteria = client.get(f"/api/v1/projects/{labelled.slug}/criteria").json()

    assert report["labels"][0]["judges"][0]["by_label"]["shipping"]["recall"]["value"] == 0.8
    assert {each["name"]: each["is_ordered"] for each in criteria} == {
        "intent": False,
        "tone": True,
    }


@pytest.mark.parametrize(
    ("labels", "problem"),
    [
        ({"0": "a", "1": "b", "2": "c"}, False),
        ({"0": "a", "1": "b"}, True),
        ({"0": "a", "1": "b", "2": "A"}, True),
    ],
)
def test_each_point_without_an_order_has_a_name(labels: dict[str, str], *, problem: bool) -> None:
    assert bool(problems_of_scale(0, 2, 1, labels, is_ordered=False)) == problem
    criterion = Criterion(name="x", scale_min=0, scale_max=2, scale_labels=labels, is_ordered=False)
    if problem:
        with pytest.raises(ValidationError):
            criterion.clean()
    else:
        criterion.clean()


def test_the_score_of_a_label_is_the_most_probable_one() -> None:
    scale = Scale(0, 2, labels={"a": 0.0, "b": 1.0, "c": 2.0}, is_ordered=False)
    split = Scored(1.0, {0.0: 0.45, 1.0: 0.1, 2.0: 0.45})

    assert split.on(scale).value == 0.0
    assert Scored(1.1, {0.0: 0.4, 1.0: 0.1, 2.0: 0.5}).on(scale).value == 2.0
    assert split.on(Scale(0, 2)).value == 1.0


def test_disagreements_about_labels_are_the_cells_of_the_table(
    labelled: Project, as_role: Callable[[str], Client], tmp_path: Path
) -> None:
    rows = as_role("viewer").get(f"/api/v1/projects/{labelled.slug}/disagreements?most=99").json()

    assert Counter((row["people"], row["score"]) for row in rows) == {
        ("shipping", "refund"): 20, ("billing", "shipping"): 10,
    }  # fmt: skip
    measured = geval.measure(
        [file.path for file in written(tmp_path, intents(right=(0.9, 0.8, 1)))],
        labels={"intent": ["billing", "shipping", "refund"]},
    )
    own = measured.disagreements(99)
    assert {each.document for each in own} == {row["doc_id"] for row in rows}
    assert own[0].people != own[0].score


@pytest.mark.parametrize(
    ("requirement", "outcome"),
    [
        ("kappa.low>=0.6", "met"),
        ("verdict.agrees", "met"),
        ("label:Shipping.recall.low>=0.7", "met"),
        ("label:shipping.recall.low>=0.9", "not met"),
        ("spearman.summary.low>=0.4", "cannot say"),
    ],
)
def test_certificates_of_labels(labelled: Project, requirement: str, outcome: str) -> None:
    criterion = labelled.criteria.get(name="intent")

    made = certify(labelled.judges.get(), criterion, read_requirements([requirement]))

    assert made.outcome == outcome
    assert what_changed(made) == []
    Rating.objects.filter(criterion=criterion).first().delete()
    assert what_changed(made)
