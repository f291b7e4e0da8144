"""Ratings as arrays: the only place where reports read people's ratings."""

from dataclasses import dataclass

import numpy as np

from annotations.models import Annotator
from evaluations.query_arrays import fetch_numbers, id_list, positions
from evaluations.statistics.pairing import FloatArray, IntArray, mean_over_raters, rater_tables


@dataclass(frozen=True)
class HumanScores:
    """People's ratings on one criterion.

    `ratings` has shape (annotators, documents, systems), individual people only; `mean` has shape
    (documents, systems) and uses the mean that a release states where no individual rated.
    `in_sight` counts ratings made while LLM scores were visible. `annotator_ids` are parallel to
    `annotators`.
    """

    annotators: tuple[str, ...]
    ratings: FloatArray
    mean: FloatArray
    in_sight: int = 0
    annotator_ids: tuple[int, ...] = ()


def human_scores(
    project_id: int, criterion_ids: list[int], *, documents: IntArray, systems: IntArray
) -> dict[int, HumanScores]:
    """The ratings of a project by criterion id.

    Args:
        documents, systems: record ids in ascending order.
    """
    annotators = list(Annotator.objects.filter(project_id=project_id).order_by("pk"))
    known = np.array([annotator.pk for annotator in annotators], dtype=np.int64)
    people = [
        index
        for index, annotator in enumerate(annotators)
        if annotator.kind == Annotator.Kind.PERSON
    ]
    means = [
        index for index, annotator in enumerate(annotators) if annotator.kind == Annotator.Kind.MEAN
    ]
    rows = fetch_numbers(
        [
            "r.criterion_id",
            "o.document_id",
            "o.system_id",
            "r.annotator_id",
            "r.score",
            "r.scores_in_sight::int",
        ],
        f"""FROM annotations_rating r JOIN evaluations_candidateoutput o ON o.id = r.output_id
            WHERE r.annotator_id IN ({id_list(known.tolist())})
                AND r.criterion_id IN ({id_list(criterion_ids)})""",
    )
    found = {}
    for criterion_id in criterion_ids:
        mine = rows[rows[:, 0] == criterion_id]
        ratings = rater_tables(
            positions(mine[:, 1], documents),
            positions(mine[:, 2], systems),
            positions(mine[:, 3], known),
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
            annotator_ids=tuple(annotators[index].pk for index in active),
        )
    return found
