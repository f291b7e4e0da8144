"""The newest score of a judge counts, in every place that shows or uses scores."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection

from annotations.planning.selection import scores_on_scale
from evaluations.judging.runs.local import corpus_for
from evaluations.models import CandidateOutput, EvaluationRun, PairScore, Project, Score
from evaluations.models.newest_scores import newest_scores
from evaluations.pages.side_by_side import side_by_side
from evaluations.reports.data import load_data

pytestmark = pytest.mark.django_db


@pytest.fixture
def judged_again(judged_project: Project, run: EvaluationRun) -> Project:
    """A later run of the same judge that scored one document's outputs anew, and lower."""
    later = EvaluationRun.objects.create(
        project=judged_project, judge=run.judge, state="done", parameters=run.parameters
    )
    for output in CandidateOutput.objects.filter(document__doc_id="d2"):
        for criterion in judged_project.criteria.all():
            Score.objects.create(run=later, output=output, criterion=criterion, value=1.5)
    return judged_project


def expected(project: Project) -> dict[tuple[int, int], float]:
    """By hand: runs in their order, each score in place of the one before."""
    scores = Score.objects.filter(run__project=project).order_by("run_id", "pk")
    return {(score.output_id, score.criterion_id or 0): score.value for score in scores}


def in_reports(project: Project) -> dict[tuple[int, int], float]:
    judges, criteria = list(project.judges.all()), list(project.criteria.all())
    data = load_data(project, judges=judges, criteria=criteria)
    return {
        (int(output), criterion): float(score)
        for (criterion, _judge), scores in data.judges.items()
        for output, score in zip(data.output_ids, scores, strict=True)
        if score == score
    }


def on_document_pages(project: Project) -> dict[tuple[int, int], float]:
    return {
        (card.output.pk, row.criterion.pk): cell.value
        for document in project.documents.all()
        for card in side_by_side(document, sort="system").cards
        for row in card.rows
        for cell in row.judges
        if cell
    }


def in_ensembles(project: Project) -> dict[tuple[int, int], float]:
    run = EvaluationRun.objects.filter(project=project).latest("pk")
    named = {criterion.name: criterion.pk for criterion in project.criteria.all()}
    return {
        (output, named[criterion]): value
        for (_judge, criterion), values in corpus_for(run, frozenset({"scores"})).scores.items()
        for output, value in values.items()
    }


def in_planning(project: Project) -> dict[tuple[int, int], float]:
    with connection.cursor() as cursor:
        cursor.execute(scores_on_scale(), {"project": project.pk, "criteria": []})
        return {(output, criterion): value for _judge, output, criterion, value in cursor}


@pytest.mark.parametrize("place", [in_reports, on_document_pages, in_ensembles, in_planning])
def test_every_place_takes_the_newest_score(
    judged_again: Project, place: Callable[[Project], dict[Any, float]]
) -> None:
    assert place(judged_again) == pytest.approx(expected(judged_again))


def test_a_newest_score_off_the_scale_is_not_replaced_by_an_older_one(
    judged_again: Project,
) -> None:
    newest = Score.objects.order_by("-run_id", "-pk")[0]
    Score.objects.filter(pk=newest.pk).update(value=99)

    found = in_planning(judged_again)

    assert (newest.output_id, newest.criterion_id) not in found


def test_the_newest_verdict_on_a_pair_counts(judged_again: Project) -> None:
    first, second = EvaluationRun.objects.filter(project=judged_again).order_by("pk")
    a, b = CandidateOutput.objects.filter(document__doc_id="d1").order_by("pk")
    criterion = judged_again.criteria.all()[0]
    for run, value in ((first, 1.0), (second, 0.0)):
        PairScore.objects.create(
            run=run, output=a, rival=b, criterion=criterion, value=value, tie=0, coverage=1
        )

    with connection.cursor() as cursor:
        query = newest_scores("r.project_id = %s", table="evaluations_pairscore")
        cursor.execute(f"SELECT n.value FROM ({query}) AS n", [judged_again.pk])
        assert cursor.fetchall() == [(0.0,)]
