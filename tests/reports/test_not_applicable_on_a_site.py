"""“Not applicable” on a site: loaded where a criterion allows it, in no figure, shown beside them,
exported and loaded again, archived."""

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.test import Client

import geval
from annotations.models import Rating
from evaluations.corpus.store import load_files
from evaluations.models import CandidateOutput, Criterion, Project, Score
from evaluations.models.improving import shown_means
from evaluations.projects.archive.read import read_archive
from evaluations.projects.archive.write import write_archive
from evaluations.reports.data import load_data
from evaluations.reports.ratings.downloads import DOWNLOADS
from evaluations.reports.ratings.exports import as_csv
from evaluations.reports.report import build_report
from evaluations.reports.serving.live import live_data
from evaluations.web.forms.criteria import CriterionForm
from geval.files.readers import InputFile
from geval.files.rows import LoadError
from geval.reports.downloads.report_json import as_json
from geval.reports.options import ReportOptions

pytestmark = pytest.mark.django_db
OUTPUTS = 40


def answers() -> tuple[list[dict[str, Any]], ...]:
    """Outputs, ratings by two people, and a judge's scores: "n/a" by ann on 6 outputs, by bob on 4
    of these and 1 other, by the judge on 5 of ann's and 3 others."""
    names = [{"doc_id": f"d{n}", "system_id": "bot"} for n in range(OUTPUTS)]
    texts = [{**about, "source": f"s{n}", "output": f"o{n}"} for n, about in enumerate(names)]
    said = {"ann": range(6), "bob": range(2, 7), "gpt": range(1, 9)}

    def rows(who: str, column: str, shift: int) -> list[dict[str, Any]]:
        return [
            {**about, "criterion": "polite", column: who,
             "score": "n/a" if n in said[who] else 1 + (n + shift * (n % 7 == 0)) % 5}
            for n, about in enumerate(names)
        ]  # fmt: skip

    return (
        texts,
        [*rows("ann", "annotator", 0), *rows("bob", "annotator", 1)],
        rows("gpt", "judge", 2),
    )


def files_of(folder: Path, *tables: list[dict[str, Any]]) -> list[InputFile]:
    paths = [folder / f"{number}.jsonl" for number in range(len(tables))]
    for path, rows in zip(paths, tables, strict=True):
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return [InputFile(path, path.name) for path in paths]


@pytest.fixture
def polite(project: Project) -> Criterion:
    return project.criteria.create(name="polite", allows_not_applicable=True)


@pytest.fixture
def answered(project: Project, polite: Criterion, tmp_path: Path) -> Project:
    result = load_files(project, files_of(tmp_path, *answers()))
    assert not any("not applicable" in note for note in result.notes)
    return project


def test_form_and_api_have_the_setting(
    project: Project, polite: Criterion, as_role: Callable[[str], Client]
) -> None:
    client, api = as_role("owner"), f"/api/v1/projects/{project.slug}/criteria"
    (shown,) = client.get(api).json()
    assert shown["allows_not_applicable"]
    made = client.post(
        api, {"name": "kind", "allows_not_applicable": True}, content_type="application/json"
    )
    assert made.json()["allows_not_applicable"]

    fields = {"name": "polite", "scale_min": 1, "scale_max": 5, "scale_step": 1}
    for ticked in (True, False):
        box = {"allows_not_applicable": "on"} if ticked else {}
        form = CriterionForm(fields | box, instance=Criterion.objects.get(pk=polite.pk))
        assert form.is_valid(), form.errors
        assert form.save().allows_not_applicable == ticked


def test_words_are_stored_where_a_criterion_allows_them(answered: Project) -> None:
    assert Rating.objects.filter(score=None).count() == 11
    assert Score.objects.filter(value=None).count() == 8
    assert Rating.objects.count() == 2 * OUTPUTS


def test_elsewhere_they_are_only_counted(project: Project, tmp_path: Path) -> None:
    result = load_files(project, files_of(tmp_path, *answers()))

    assert any("19 answers are" in note for note in result.notes)
    assert Rating.objects.count() == 2 * OUTPUTS - 11


def test_loading_again_changes_nothing_and_a_number_contradicts(
    answered: Project, tmp_path: Path
) -> None:
    assert load_files(answered, files_of(tmp_path, *answers())).ratings.created == 0
    row = {"doc_id": "d0", "system_id": "bot", "criterion": "polite", "annotator": "ann"}

    for score in ("n/a", 3):
        other = row | {"score": score} if score == 3 else row | {"doc_id": "d9", "score": score}
        with pytest.raises(LoadError) as refused:
            load_files(answered, files_of(tmp_path, [other]))
        assert "n/a" in str(refused.value.errors[0])


def test_repeats_of_a_judge_vote(answered: Project, tmp_path: Path) -> None:
    votes = {"d20": ("n/a", "n/a", 4), "d21": ("n/a", 4, 5), "d22": (2, 4, 5), "d23": ("n/a",) * 3}
    rows = [
        {"doc_id": doc_id, "system_id": "bot", "criterion": "polite", "judge": "again",
         "score": score, "repeat": str(number)}
        for doc_id, scores in votes.items() for number, score in enumerate(scores)
    ]  # fmt: skip

    load_files(answered, files_of(tmp_path, rows))

    scores = Score.objects.filter(run__judge__name="again").order_by("output__document__doc_id")
    assert [score.value for score in scores] == [None, 4.5, pytest.approx(11 / 3), None]


def test_no_statistic_of_numbers_sees_it(answered: Project, polite: Criterion) -> None:
    judge = answered.judges.get()

    for data in (load_data(answered, [judge], [polite]), live_data(answered)):
        human = data.humans[polite.pk]
        assert len(human.ratings) == 2 * OUTPUTS - 11
        assert np.isnan(human.mean).sum() == 4
        assert np.isnan(data.judges[polite.pk, judge.pk]).sum() == 8
    outputs = CandidateOutput.objects.of_project(answered)
    assert len(shown_means(outputs, answered.pk)) == OUTPUTS - 4


def test_agreement_on_it_stands_beside(answered: Project, polite: Criterion) -> None:
    report = json.loads(as_json(build_report(answered)))

    assert report["not_applicable_to_people"] == [{"criterion": "polite", "by_any": 7, "by_all": 4}]
    assert report["not_applicable"] == [
        {"criterion": "polite", "judge": "gpt", "people": 7, "by_judge": 8, "both": 6}
    ]
    one = ReportOptions(annotators=(answered.annotators.get(name="ann").pk,))
    assert "by_any" not in as_json(build_report(answered, options=one))


def test_what_the_site_writes_it_reads(
    answered: Project, polite: Criterion, tmp_path: Path, as_role: Callable[[str], Client]
) -> None:
    written = "".join(as_csv(answered, "ratings"))
    assert written.count(",n/a,") == 11
    before = sorted(Rating.objects.values_list("output", "annotator__name", "score"), key=str)
    client, api = as_role("owner"), f"/api/v1/projects/{answered.slug}"
    ratings, scores = (
        [*map(json.loads, b"".join(client.get(f"{api}/{kind}").streaming_content).splitlines())]
        for kind in ("ratings", "scores")
    )
    assert [row["score"] for row in scores].count("n/a") == 8
    assert [row["score"] for row in ratings].count("n/a") == 11
    Rating.objects.all().delete()
    path = tmp_path / "ratings.csv"
    path.write_text(written)

    load_files(answered, [InputFile(path, path.name)])

    after = sorted(Rating.objects.values_list("output", "annotator__name", "score"), key=str)
    assert after == before


@pytest.mark.parametrize("name", ["label-studio.json", "argilla.json"])
def test_tools_take_it_and_give_it_back(answered: Project, tmp_path: Path, name: str) -> None:
    def stored_answers() -> list[Any]:
        ratings = Rating.objects.values_list("output", "annotator__name", "score")
        scores = Score.objects.values_list("output", "run__judge__name", "value")
        return sorted([*ratings, *scores], key=str)

    before = stored_answers()
    path = tmp_path / name
    path.write_bytes(b"".join(DOWNLOADS[name].of(answered, pseudonyms=False)))
    Rating.objects.all().delete()
    Score.objects.all().delete()

    load_files(answered, [InputFile(path, path.name)])

    assert stored_answers() == before


def test_a_site_and_the_library_say_the_same(answered: Project, tmp_path: Path) -> None:
    files = files_of(tmp_path, *answers())

    measured = geval.measure([file.path for file in files])

    assert measured.report.not_applicable_notes == build_report(answered).not_applicable_notes
    assert "at least one on 7 outputs, all on 4 of 7" in str(measured)


def test_it_comes_back_from_an_archive(answered: Project) -> None:
    content = io.BytesIO()
    write_archive(answered, content)

    copy = read_archive(content, slug="copy")

    assert copy.criteria.get().allows_not_applicable
    assert Rating.objects.filter(annotator__project=copy, score=None).count() == 11
    assert Score.objects.filter(run__project=copy, value=None).count() == 8
