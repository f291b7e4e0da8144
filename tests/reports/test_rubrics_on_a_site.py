"""Rubrics on a site: the same totals as the library's, kept up to date, refused where they would be
rated themselves."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.exceptions import ValidationError
from django.http import QueryDict
from django.test import Client

import geval
from annotations.forms.campaigns import CampaignForm
from annotations.models import Rating
from assurance.certifying.certificates import certify
from assurance.improving.work import ImproveError, request_search
from evaluations.corpus.store import load_files
from evaluations.models import Criterion, Judge, Project
from evaluations.models.changes import note_change
from evaluations.models.criteria import with_items_of
from evaluations.projects.archive.read import read_archive
from evaluations.projects.archive.write import write_archive
from evaluations.reports.data import load_data
from evaluations.reports.report import build_report
from evaluations.reports.serving.live import live_data
from evaluations.web.forms.runs import RunForm, wanted_run
from geval.files.readers import InputFile
from geval.files.rows import LoadError
from geval.reports.downloads.report_json import as_json
from geval.reports.requirements import parse_requirement

pytestmark = pytest.mark.django_db
WEIGHTS = {"cites": 2.0, "polite": 1.0, "short": 1.0}
OUTPUTS = 40


def answers() -> list[dict[str, Any]]:
    """Two people and a judge on three items; ann and the judge answer "n/a" now and then, and bob
    leaves every eighth output without an answer on one item."""
    names = [{"doc_id": f"d{n}", "system_id": "bot"} for n in range(OUTPUTS)]
    rows: list[dict[str, Any]] = [
        {**about, "source": f"s{n}", "output": f"o{n}"} for n, about in enumerate(names)
    ]
    for who, column in (("ann", "annotator"), ("bob", "annotator"), ("gpt", "judge")):
        for n, about in enumerate(names):
            for at, item in enumerate(WEIGHTS):
                is_na = (who != "bob" and n % 9 == at) or (who, n) == ("ann", 30)
                score: Any = "n/a" if is_na else (n * (at + 2) // 3 + (n % 7 == at)) % 2
                if (who, n % 8, at) != ("bob", 3, 1):
                    rows.append({**about, "criterion": item, column: who, "score": score})
    return rows


def files_of(folder: Path, rows: list[dict[str, Any]]) -> list[InputFile]:
    path = folder / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return [InputFile(path, path.name)]


@pytest.fixture
def quality(project: Project) -> Criterion:
    rubric = project.criteria.create(name="quality")
    for name, weight in WEIGHTS.items():
        project.criteria.create(
            name=name, scale_min=0, scale_max=1, weight=weight, rubric=rubric,
            allows_not_applicable=True,
        )  # fmt: skip
    return rubric


@pytest.fixture
def answered(project: Project, quality: Criterion, tmp_path: Path) -> Project:
    load_files(project, files_of(tmp_path, answers()))
    return project


def data_of(project: Project) -> Any:
    return load_data(project, list(project.judges.all()), list(project.criteria.all()))


def test_site_and_library_have_the_same_totals(answered: Project, quality: Criterion) -> None:
    measured = geval.measure(answers(), rubric={"quality": WEIGHTS})
    (rubric,) = [each.pk for each in measured.gathered.criteria if each.name == "quality"]
    here, there = data_of(answered), measured.gathered.data
    (gpt,) = answered.judges.all()

    own, others = here.humans[quality.pk], there.humans[rubric]
    assert own.annotators == others.annotators == ("ann", "bob")
    np.testing.assert_array_equal(own.mean, others.mean)
    np.testing.assert_array_equal(own.ratings.value, others.ratings.value)
    np.testing.assert_array_equal(own.not_applicable, others.not_applicable)
    scores = here.judges[quality.pk, gpt.pk]
    np.testing.assert_array_equal(scores, there.judges[rubric, 1])
    # bob leaves an item out on five outputs, which ann alone has a total of; all of d30 is "n/a".
    assert len(own.ratings) == 2 * OUTPUTS - 5 - 1
    at = here.doc_ids.index("d30")
    assert own.not_applicable is not None
    assert own.not_applicable[at] == 1
    # d1: the judge fails "cites", passes "short", and "polite" does not apply.
    assert scores[here.doc_ids.index("d1")] == pytest.approx(1 + 4 / 3)

    on_site = json.loads(as_json(build_report(answered)))["criteria"]["quality"]
    in_library = measured.to_dict()["criteria"]["quality"]
    assert on_site == in_library


def test_live_totals_follow_ratings_and_weights(answered: Project, quality: Criterion) -> None:
    before = live_data(answered).humans[quality.pk].mean
    cites = answered.criteria.get(name="cites")
    Rating.objects.filter(criterion=cites, score=0).update(score=1)
    note_change(answered.pk, [cites.pk])
    rated_anew = live_data(answered).humans[quality.pk].mean
    assert np.nanmean(rated_anew) > np.nanmean(before)

    answered.criteria.filter(name="cites").update(weight=20)
    assert np.nanmean(live_data(answered).humans[quality.pk].mean) > np.nanmean(rated_anew)


def test_scores_without_a_criterion_stand_for_a_total(
    answered: Project, quality: Criterion, tmp_path: Path
) -> None:
    rows = [{"doc_id": f"d{n}", "system_id": "bot", "judge": "bleu", "score": n / 100}
            for n in range(OUTPUTS)]  # fmt: skip
    load_files(answered, files_of(tmp_path, rows))
    bleu = answered.judges.get(name="bleu")

    data = data_of(answered)
    scores = data.judges[quality.pk, bleu.pk]
    assert scores[data.doc_ids.index("d7")] == 0.07


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"scale_max": 5}, "pass or fail"),
        ({"is_ordered": False, "scale_labels": {"0": "a", "1": "b"}}, "pass or fail"),
        ({"weight": 0}, "above 0"),
        ({"weight": -1}, "above 0"),
        ({"rubric": "cites"}, "item itself"),
        ({"rubric": "kinds"}, "without an order"),
        ({"rubric": "rated"}, "ratings"),
        ({"rubric": "elsewhere"}, "this project"),
    ],
)
def test_what_no_item_can_be(
    project: Project, quality: Criterion, small_project: Project, values: dict[str, Any],
    message: str,
) -> None:  # fmt: skip
    project.criteria.create(name="kinds", is_ordered=False, scale_labels={"1": "a"})
    rated = project.criteria.create(name="rated")
    rated.campaigns.create(project=project, name="c")
    Project.objects.create(slug="other", name="Other").criteria.create(name="elsewhere")
    item = Criterion(project=project, name="new", scale_min=0, scale_max=1, rubric=quality)
    for name, value in values.items():
        of = Criterion.objects.get(name=value) if name == "rubric" else value
        setattr(item, name, of)

    with pytest.raises(ValidationError, match=message):
        item.full_clean()


def test_api(project: Project, quality: Criterion, as_role: Callable[[str], Client]) -> None:
    client, api = as_role("owner"), f"/api/v1/projects/{project.slug}/criteria"
    body = {"name": "brief", "scale_min": 0, "scale_max": 1, "weight": 3, "rubric": quality.pk}
    made = client.post(api, body, content_type="application/json").json()
    assert (made["rubric"], made["weight"]) == (quality.pk, 3)

    refused = client.post(
        api, body | {"name": "x", "rubric": 10**9}, content_type="application/json"
    )
    assert refused.status_code == 422
    assert "rubric" in refused.content.decode()
    address = f"{api}/{made['id']}"
    free = client.put(address, {"rubric": None}, content_type="application/json").json()
    assert free["rubric"] is None


def test_archives_keep_rubrics(answered: Project, quality: Criterion, tmp_path: Path) -> None:
    # Items may be older than their rubric.
    newer = answered.criteria.create(name="newer")
    answered.criteria.filter(rubric=quality).update(rubric=newer)
    path = tmp_path / "project.zip"
    with path.open("wb") as file:
        write_archive(answered, file)
    copy = read_archive(path, slug="copy")

    items = copy.criteria.filter(rubric__name="newer").order_by("name")
    assert [(item.name, item.weight) for item in items] == sorted(WEIGHTS.items())
    mean = data_of(copy).humans[copy.criteria.get(name="newer").pk].mean
    np.testing.assert_array_equal(mean, data_of(answered).humans[newer.pk].mean)


def test_ratings_and_scores_of_a_rubric_are_refused(
    answered: Project, quality: Criterion, tmp_path: Path
) -> None:
    about = {"doc_id": "d1", "system_id": "bot", "criterion": "Quality"}
    rows = [
        {**about, "annotator": "ann", "score": 3},
        {**about, "judge": "gpt", "score": 3},
        {**about, "judge": "gpt", "score": "n/a"},
    ]
    for row in rows:
        with pytest.raises(LoadError) as error:
            load_files(answered, files_of(tmp_path, [row]))
        assert "cites, polite, short" in str(error.value.errors[0])


def test_a_rubric_is_not_judged_or_improved_itself(project: Project, quality: Criterion) -> None:
    items = list(quality.items.all())
    assert with_items_of([items[1], quality]) == [items[1], items[0], items[2]]
    assert quality not in project.criteria.without_rubrics()
    with pytest.raises(ImproveError, match="cites, polite, short"):
        request_search(Judge(project=project), quality, [])


def test_runs_and_campaigns_take_the_items_of_a_rubric(
    answered: Project,
    quality: Criterion,
    make_judge: Callable[..., Judge],
    as_role: Callable[[str], Client],
) -> None:
    judge = make_judge(answered, base_url="http://127.0.0.1:1/v1", use_steps=False)
    items = set(quality.items.all())
    client, api = as_role("owner"), f"/api/v1/projects/{answered.slug}"

    made = client.post(
        f"{api}/runs", {"judge": judge.pk, "criteria": ["Quality"]}, content_type="application/json"
    )
    assert set(answered.runs.get(pk=made.json()["id"]).judged_criteria()) == items

    made = client.post(
        f"{api}/campaigns", {"name": "c", "criteria": [quality.pk]}, content_type="application/json"
    )
    assert set(answered.campaigns.get(pk=made.json()["id"]).criteria.all()) == items

    form = RunForm(
        project=answered, initial=wanted_run(answered, QueryDict(f"criterion={quality.pk}"))
    )
    assert set(form.initial["criteria"]) == {item.pk for item in items}
    for offered in (form, CampaignForm(project=answered)):
        assert set(offered.fields["criteria"].queryset) == items  # type: ignore[attr-defined]


def test_judges_alone_have_totals(project: Project, quality: Criterion, tmp_path: Path) -> None:
    rows = [row for row in answers() if "annotator" not in row]
    load_files(project, files_of(tmp_path, rows))

    data = data_of(project)
    assert np.isnan(data.humans[quality.pk].mean).all()
    assert np.isfinite(data.judges[quality.pk, project.judges.get().pk]).all()


def test_totals_are_weighted_as_their_items(tmp_path: Path) -> None:
    rows = [
        row
        | ({"probability": 0.5 if int(row["doc_id"][1:]) % 2 else 1} if "annotator" in row else {})
        for row in answers()
    ]
    data = geval.measure(rows, rubric={"quality": WEIGHTS}).gathered.data

    rated = ~np.isnan(data.humans[4].mean)
    odd = np.array([int(name[1:]) % 2 for name in data.doc_ids])
    assert data.humans[4].weight is not None
    np.testing.assert_array_equal(data.humans[4].weight[rated], np.where(odd, 2, 1)[rated])


def test_a_rubric_is_certified_by_its_items(
    answered: Project, quality: Criterion, make_judge: Callable[..., Judge]
) -> None:
    judge = make_judge(answered, base_url="http://127.0.0.1:1/v1", use_steps=False)
    required = [parse_requirement("spearman.dataset.low>=0.1")]

    on_rubric = certify(judge, quality, required).content["requirements"][0]
    assert "cites, polite, short" in on_rubric["reason"]
    imported = answered.judges.get(name="gpt")
    assert certify(imported, quality, required).outcome == "met"
