"""Ratings as arrays: the only place where reports read people's ratings."""

from collections import defaultdict
from dataclasses import replace

import numpy as np

from annotations.models import Annotator
from evaluations.models.query_arrays import fetch_groups, id_list, ids_of_key, two_ids
from geval.reports.human_scores import HumanScores, Rater, human_scores_of
from geval.statistics.arrays import positions
from geval.statistics.types import FloatArray, IntArray

# Answers given in one campaign, even if a newer answer of the same person counts elsewhere.
_IN_ROUND = """(SELECT g.key::bigint AS criterion_id, a.shown[1] AS output_id, a.annotator_id,
        g.value::float8 AS score,
        c.show_scores AND a.scores_shown IS DISTINCT FROM false AS scores_in_sight
    FROM annotations_assignment a JOIN annotations_campaign c ON c.id = a.campaign_id
    JOIN annotations_campaignitem i ON i.id = a.item_id AND i.kind = 'ordinary'
    CROSS JOIN LATERAL jsonb_each_text(a.answer -> 'scores') AS g(key, value)
    WHERE c.id = {} AND c.kind = 'rating' AND a.state = 'submitted')"""


def human_scores(
    project_id: int, criterion_ids: list[int], *, outputs: IntArray, round_id: int = 0
) -> dict[int, HumanScores]:
    """Return the ratings of a project by criterion id.

    Args:
        outputs: shape (outputs,), the ids of all outputs of the project.
        round_id: the only campaign whose ratings and decisions count; 0: each person's newest
            rating of an output.
    """
    ratings = _IN_ROUND.format(int(round_id)) if round_id else "annotations_rating"
    raters = [
        Rater(pk, name, is_mean=kind == Annotator.Kind.MEAN)
        for pk, name, kind in Annotator.objects.filter(project_id=project_id)
        .order_by("pk")
        .values_list("pk", "name", "kind")
    ]
    rater_ids = np.array([rater.pk for rater in raters], dtype=np.int64)
    # By criterion, and by whether LLM scores were visible.
    rows = fetch_groups(
        two_ids("r.criterion_id", "r.scores_in_sight::int"),
        ["r.output_id", "r.annotator_id", "r.score"],
        f"""FROM {ratings} r WHERE r.annotator_id IN ({id_list(rater_ids.tolist())})
                AND r.criterion_id IN ({id_list(criterion_ids)})""",
    )
    by_criterion = defaultdict(list)
    for key, columns in rows.items():
        by_criterion[ids_of_key(key)[0]].append((ids_of_key(key)[1], columns))
    decided = _decided(project_id, outputs, round_id)
    human_scores = {}
    for criterion_id in criterion_ids:
        parts = by_criterion[criterion_id]
        output, annotator, score = (
            np.concatenate([columns[index] for _in_sight, columns in parts] or [np.empty(0)])
            for index in range(3)
        )
        at_output, at_rater = positions(output, outputs), positions(annotator, rater_ids)
        is_there = at_output >= 0
        in_sight = sum(
            int((positions(columns[0], outputs) >= 0).sum())
            for was_in_sight, columns in parts
            if was_in_sight
        )
        human = human_scores_of(
            at_output[is_there],
            at_rater[is_there],
            score[is_there],
            outputs=len(outputs),
            raters=raters,
            in_sight=in_sight,
        )
        human_scores[criterion_id] = replace(human, decided=decided.get(criterion_id))
    return human_scores


def _decided(project_id: int, outputs: IntArray, round_id: int) -> dict[int, FloatArray]:
    """Return adjudicators' newest decisions by criterion id; shape (outputs,), NaN without a
    decision."""
    within = f"c.id = {int(round_id)}" if round_id else f"c.project_id = {int(project_id)}"
    rows = fetch_groups(
        "n.criterion_id",
        ["n.output_id", "n.score"],
        f"""FROM (SELECT DISTINCT ON (1, 2) g.key::bigint AS criterion_id,
                i.outputs[1] AS output_id, g.value::float8 AS score
            FROM annotations_decision t
            JOIN annotations_campaignitem i ON i.id = t.item_id
            JOIN annotations_campaign c ON c.id = i.campaign_id AND c.kind = 'rating'
            CROSS JOIN LATERAL jsonb_each_text(t.answer -> 'scores') AS g(key, value)
            WHERE {within} ORDER BY 1, 2, t.id DESC) AS n""",
    )
    decided = {}
    for criterion_id, (output, score) in rows.items():
        values = np.full(len(outputs), np.nan)
        indexes = positions(output, outputs)
        values[indexes[indexes >= 0]] = score[indexes >= 0]
        decided[int(criterion_id)] = values
    return decided
