"""Ratings as arrays: the only place where reports read people's ratings."""

from collections import defaultdict

import numpy as np

from annotations.models import Annotator
from evaluations.models.query_arrays import fetch_groups, id_list, ids_of_key, two_ids
from geval.reports.human_scores import HumanScores, of_active
from geval.statistics.layout import Ratings, positions
from geval.statistics.types import IntArray, rounded


def human_scores(
    project_id: int, criterion_ids: list[int], *, outputs: IntArray
) -> dict[int, HumanScores]:
    """The ratings of a project by criterion id.

    Args:
        outputs: shape (outputs,), the ids of all outputs of the project.
    """
    everybody = list(
        Annotator.objects.filter(project_id=project_id)
        .order_by("pk")
        .values_list("pk", "name", "kind")
    )
    annotators = [(pk, name) for pk, name, _kind in everybody]
    known = np.array([pk for pk, _name in annotators], dtype=np.int64)
    people, means = (
        np.array([of == kind for _pk, _name, of in everybody], dtype=bool)
        for kind in (Annotator.Kind.PERSON, Annotator.Kind.MEAN)
    )
    # By criterion, and by whether LLM scores were in sight.
    rows = fetch_groups(
        two_ids("r.criterion_id", "r.scores_in_sight::int"),
        ["r.output_id", "r.annotator_id", "r.score"],
        f"""FROM annotations_rating r WHERE r.annotator_id IN ({id_list(known.tolist())})
                AND r.criterion_id IN ({id_list(criterion_ids)})""",
    )
    by_criterion = defaultdict(list)
    for key, columns in rows.items():
        by_criterion[ids_of_key(key)[0]].append((ids_of_key(key)[1], columns))
    everything = np.ones(len(outputs), dtype=bool)
    human_scores = {}
    for criterion_id in criterion_ids:
        parts = by_criterion[criterion_id]
        output, annotator, score = (
            np.concatenate([columns[index] for _in_sight, columns in parts] or [np.empty(0)])
            for index in range(3)
        )
        at_output, at_annotator = positions(output, outputs), positions(annotator, known)
        place = at_output * np.int64(len(annotators)) + at_annotator
        order = np.argsort(place)
        order = order[at_output[order] >= 0]
        ratings = Ratings(
            at_output[order],
            at_annotator[order],
            rounded(score[order]),
            len(outputs),
            len(annotators),
        )
        in_sight = sum(
            int((positions(columns[0], outputs) >= 0).sum())
            for was_in_sight, columns in parts
            if was_in_sight
        )
        by_person = ratings.among(everything, people)
        mean = by_person.means()
        if means.any():
            stated = ratings.among(everything, means).means()
            mean = np.where(np.isnan(mean), stated, mean)
        persons = [one for one, is_person in zip(annotators, people, strict=True) if is_person]
        human_scores[criterion_id] = of_active(by_person, persons, mean, in_sight)
    return human_scores
