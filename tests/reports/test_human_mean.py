"""The human mean of an output is one number wherever it is shown: what people gave, or a release
states."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from annotations.models import Annotator, Rating
from evaluations.judging.runs.local import corpus_for
from evaluations.models import CandidateOutput, EvaluationRun, Project
from evaluations.pages.browsing import browse
from evaluations.pages.runs.item import item_view
from evaluations.pages.side_by_side import side_by_side
from evaluations.reports.ratings.human_scores import human_scores

pytestmark = pytest.mark.django_db
# Of each output of the small project, what its two people gave is known; a release adds its own
# mean to some.
STATED = {("d1", "good"): 1.5, ("d2", "odd"): 5.0, ("d3", "odd"): 2.25}
ALONE = ("d3", "odd")  # rated by nobody but the release


@pytest.fixture
def mixed(judged_project: Project) -> Project:
    """People, a release's mean beside them, and a release's mean alone."""
    release = Annotator.objects.create(
        project=judged_project, name="release", kind=Annotator.Kind.MEAN
    )
    for (doc_id, system), score in STATED.items():
        output = CandidateOutput.objects.get(document__doc_id=doc_id, system__name=system)
        for criterion in judged_project.criteria.all():
            Rating.objects.create(
                output=output, criterion=criterion, annotator=release, score=score
            )
    alone = Rating.objects.filter(output__document__doc_id=ALONE[0], output__system__name=ALONE[1])
    alone.filter(annotator__kind=Annotator.Kind.PERSON).delete()
    return judged_project


def expected(project: Project) -> dict[tuple[int, int], float]:
    """By hand: the mean over people, else what the release states."""
    found = {}
    for output in CandidateOutput.objects.of_project(project):
        for criterion in project.criteria.all():
            ratings = Rating.objects.filter(output=output, criterion=criterion)
            people = [rating.score for rating in ratings.filter(annotator__kind="person")]
            stated = [rating.score for rating in ratings.filter(annotator__kind="mean")]
            found[output.pk, criterion.pk] = float(np.mean(people or stated))
    return found


def on_document_pages(project: Project) -> dict[tuple[int, int], float | None]:
    return {
        (card.output.pk, row.criterion.pk): row.human_mean
        for document in project.documents.all()
        for card in side_by_side(document, sort="system").cards
        for row in card.rows
    }


def on_item_pages(project: Project) -> dict[tuple[int, int], float | None]:
    run = EvaluationRun.objects.get(project=project)
    return {
        (item.output_id, item.criterion_id or 0): item_view(item).human_mean
        for item in run.items.all()
    }


def in_reports(project: Project) -> dict[tuple[int, int], float]:
    outputs = list(CandidateOutput.objects.of_project(project).values_list("pk", flat=True))
    criteria = list(project.criteria.values_list("pk", flat=True))
    found = human_scores(project.pk, criteria, outputs=np.array(outputs))
    return {
        (output, criterion): float(mean)
        for criterion, human in found.items()
        for output, mean in zip(outputs, human.mean, strict=True)
    }


def in_ensembles(project: Project) -> dict[tuple[int, int], float]:
    run = EvaluationRun.objects.get(project=project)
    ratings = corpus_for(run, frozenset({"scores"})).ratings
    named = {criterion.name: criterion.pk for criterion in project.criteria.all()}
    return {
        (output, named[name]): mean
        for name, of_name in ratings.items()
        for output, mean in of_name.items()
    }


@pytest.mark.parametrize("place", [on_document_pages, on_item_pages, in_reports, in_ensembles])
def test_every_place_shows_the_same_mean(
    mixed: Project, place: Callable[[Project], dict[Any, float]]
) -> None:
    assert place(mixed) == pytest.approx(expected(mixed))


def test_the_list_of_documents_shows_the_mean_of_its_outputs_means_and_sorts_by_it(
    mixed: Project,
) -> None:
    by_output = expected(mixed)
    criteria = list(mixed.criteria.all())
    of_document = {
        document.doc_id: float(
            np.mean([by_output[o.pk, c.pk] for o in document.outputs.all() for c in criteria])
        )
        for document in mixed.documents.all()
    }

    rows = browse(mixed, {"sort": "human"}, [], page="1").rows

    assert {row.name: row.human for row in rows} == {
        name: f"{mean:.2f}" for name, mean in of_document.items()
    }
    assert [row.name for row in rows] in (
        sorted(of_document, key=lambda name: of_document[name]),
        sorted(of_document, key=lambda name: -of_document[name]),
    )
