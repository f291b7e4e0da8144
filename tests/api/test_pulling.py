"""A site's project is measured elsewhere: `geval.pull` gives what `geval.measure` takes."""

import json
import os
from pathlib import Path

import pytest
from django.contrib.auth.models import User

import geval
from evaluations.corpus.store import load_files
from evaluations.management.demo import load_support
from evaluations.models import CandidateOutput, PairScore, Project, Role, RunState, Score
from evaluations.reports.report import build_report
from geval.client import Client
from geval.files.readers import InputFile
from geval.reports.downloads.report_json import as_json
from geval.statistics.scales import Scale, scale_of
from tests.measuring.conftest import made_up, written
from tests.measuring.test_same_numbers_as_the_site import (
    SESSIONS,
    choices_of_judges,
    in_sessions,
    preferences,
    sampled,
)

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.processes]


@pytest.fixture
def rated(project: Project, tmp_path: Path) -> Project:
    """A project with ratings and scores of turns of sessions, whose scale nobody would guess from
    its ratings."""
    content = made_up(5, documents=30, systems=4) | {"preferences.csv": preferences(5)}
    content = in_sessions(content, SESSIONS["one document in none"])
    files = written(tmp_path, sampled(content, with_top=True))
    load_files(project, [InputFile(path, path.name) for path in files])
    project.criteria.filter(name="fluency").update(scale_max=9)
    return project


def test_what_is_pulled_has_the_numbers_of_the_site(site_address: str, rated: Project) -> None:
    shown = json.loads(as_json(build_report(rated)))

    pulled = geval.pull(site_address, rated.slug)

    assert scale_of(pulled.criteria["fluency"]) == Scale(1, 9)
    assert geval.measure(pulled).to_dict() | {"project": rated.slug} == shown


def test_kinds_of_criteria_are_pulled_with_the_numbers_of_the_site(
    site_address: str, owner: User
) -> None:
    project = load_support()
    project.memberships.create(user=owner, role=Role.OWNER)
    project.criteria.filter(name="resolved").update(finds_highest=True, required_sensitivity=0.97)
    failures = project.criteria.create(
        name="failure", scale_min=1, scale_max=3, is_ordered=False,
        scale_labels={"1": "none", "2": "tone", "3": "facts"},
    )  # fmt: skip
    rater = project.annotators.get()
    run = project.runs.latest("pk")
    for number, output in enumerate(CandidateOutput.objects.of_project(project)):
        failures.ratings.create(output=output, annotator=rater, score=1 + number % 3)
        run.scores.create(output=output, criterion=failures, value=1 + (number % 7 and number % 3))
    shown = json.loads(as_json(build_report(project)))

    pulled = geval.pull(site_address, project.slug)

    assert shown["criteria"]["quality"]["rubric_items"] == 3
    assert shown["labels"]
    # Its query leads to the view from a site's usual one.
    measured = geval.measure(pulled).to_dict() | {"project": project.slug}
    assert measured | {"view": None} == shown | {"view": None}


def test_choices_of_judges_are_pulled_with_the_numbers_of_the_site(
    site_address: str, project: Project, tmp_path: Path
) -> None:
    content = made_up(8) | {"preferences.csv": preferences(8), "judges.csv": choices_of_judges(9)}
    load_files(project, [InputFile(path, path.name) for path in written(tmp_path, content)])
    # As of a judge that gives probabilities, and of one that a later run asked again.
    choice = PairScore.objects.filter(left__isnull=False).latest("pk")
    PairScore.objects.filter(pk=choice.pk).update(value=0.8, tie=0.1, left=0.7)
    later = project.runs.create(judge=choice.run.judge, state=RunState.DONE)
    again = PairScore.objects.exclude(pk=choice.pk).filter(run=choice.run).latest("pk")
    again.pk, again.run, again.value = None, later, 1 - again.value
    again.save()
    shown = json.loads(as_json(build_report(project)))

    pulled = geval.pull(site_address, project.slug)
    measured = geval.measure(pulled).to_dict()

    assert {*shown["comparisons"]["overall"]["pairwise_judges"]} == {"both", "once"}
    assert len(pulled.choices) == PairScore.objects.count() - 1
    assert measured | {"project": project.slug} == shown
    named = geval.measure(pulled, judge=["once"]).to_dict()
    assert {*named["comparisons"]["overall"]["pairwise_judges"]} == {"once"}


def test_of_several_runs_the_newest_scores_are_pulled_whatever_the_scale_is_now(
    site_address: str, rated: Project
) -> None:
    run = Score.objects.latest("pk").run
    later = rated.runs.create(judge=run.judge, state=RunState.DONE)
    for score in run.scores.filter(criterion__name="fluency"):
        score.pk, score.run, score.value = None, later, 6 - score.value
        score.save()
    rated.criteria.filter(name="fluency").update(scale_max=3)
    shown = json.loads(as_json(build_report(rated)))

    pulled = geval.pull(site_address, rated.slug)

    assert geval.measure(pulled).to_dict() | {"project": rated.slug} == shown
    assert scale_of(pulled.criteria["fluency"]) == Scale(1, 3)


def test_versions_of_a_judge_are_pulled_as_judges_of_their_own(
    site_address: str, rated: Project
) -> None:
    older = rated.judges.get(name="near")
    newer = rated.judges.get(name="far")
    newer.name, newer.version = older.name, older.version + 1
    newer.save()

    pulled = geval.pull(site_address, rated.slug)

    judges = {row["judge"] for row in pulled if "judge" in row}
    assert judges == {older.label, newer.label}


def test_pulled_rows_have_the_columns_of_uploads(site_address: str, rated: Project) -> None:
    pulled = geval.pull(site_address, rated.slug)

    assert {*pulled[0]} == {"doc_id", "system_id", "source", "output", "session_id"}
    assert any("winner" in row for row in pulled)


def test_judged_rows_are_pushed_and_reported(
    site_address: str, project: Project, rated: Project
) -> None:
    class Judged:
        def to_tables(self) -> dict[str, list[dict[str, object]]]:
            row = {"doc_id": "new", "system_id": "s0"}
            return {
                "outputs": [row | {"source": "A source.", "output": "An output."}],
                "ratings": [],
                "scores": [row | {"criterion": "fluency", "judge": "near", "score": 2}],
            }

    mine = Client(site_address, token=os.environ["GEVAL_TOKEN"]).project(project.slug)

    pushed = mine.push(Judged())
    report = mine.report(coefficient="kendall")
    frame = mine.report_frame("polars")
    with pytest.raises(LookupError, match="no judge 'Nobody' in"):
        mine.start_run("Nobody")

    created = {name: each[name]["created"] for name, each in pushed.items()}
    assert created == {"outputs": 1, "scores": 1}
    assert {*report["criteria"]} == {"coherence", "fluency"}
    assert {*frame["judge"]} == {"near", "far"}
