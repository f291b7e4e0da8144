"""Ratings as arrays: the one door through which reports see what people said."""

from dataclasses import dataclass

import numpy as np
from django.db import connection

from annotations.models import Annotator
from evaluations.statistics.pairing import FloatArray, mean_over_raters, rater_tables


@dataclass(frozen=True)
class HumanScores:
    """What people said of one criterion.

    `ratings` has shape (annotators, documents, systems), single people only; `mean` has shape (documents, systems) and
    takes the mean a release states where no single person rated. `in_sight` counts ratings that were made while LLM
    scores were shown.
    """

    annotators: tuple[str, ...]
    ratings: FloatArray
    mean: FloatArray
    in_sight: int = 0


def human_scores(
    project_id: int, criterion_ids: list[int], *, documents: dict[int, int], systems: dict[int, int]
) -> dict[int, HumanScores]:
    """The ratings of a project by criterion id.

    Args:
        documents, systems: from record id to position in the tables.
    """
    annotators = list(Annotator.objects.filter(project_id=project_id).order_by("pk"))
    place = {annotator.pk: index for index, annotator in enumerate(annotators)}
    people = [index for index, annotator in enumerate(annotators) if annotator.kind == Annotator.Kind.PERSON]
    means = [index for index, annotator in enumerate(annotators) if annotator.kind == Annotator.Kind.MEAN]
    rows = _rows(project_id)
    found = {}
    for criterion_id in criterion_ids:
        mine = rows[rows[:, 0] == criterion_id]
        ratings = rater_tables(
            np.array([documents[int(pk)] for pk in mine[:, 1]], dtype=np.int64),
            np.array([systems[int(pk)] for pk in mine[:, 2]], dtype=np.int64),
            np.array([place[int(pk)] for pk in mine[:, 3]], dtype=np.int64),
            mine[:, 4],
            shape=(len(annotators), len(documents), len(systems)),
        )
        by_person = mean_over_raters(ratings[people])
        stated = mean_over_raters(ratings[means])
        active = [index for index in people if not np.isnan(ratings[index]).all()]
        found[criterion_id] = HumanScores(
            annotators=tuple(annotators[index].name for index in active),
            ratings=ratings[active],
            mean=np.where(np.isnan(by_person), stated, by_person),
            in_sight=int(mine[:, 5].sum()),
        )
    return found


def _rows(project_id: int) -> FloatArray:
    """All ratings as rows of (criterion, document, system, annotator, score, whether scores were in sight)."""
    with connection.cursor() as cursor:
        cursor.execute(
            """SELECT r.criterion_id, o.document_id, o.system_id, r.annotator_id, r.score, r.scores_in_sight
               FROM annotations_rating r JOIN evaluations_candidateoutput o ON o.id = r.output_id
               JOIN annotations_annotator a ON a.id = r.annotator_id WHERE a.project_id = %s""",
            [project_id],
        )
        return np.array(cursor.fetchall(), dtype=float).reshape(-1, 6)
