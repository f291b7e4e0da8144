"""Ratings as arrays, and their sampling weights: the only place where reports read people's
ratings.

Weights come from the campaigns and files that say how outputs were chosen;
`geval/reports/human_scores.py` has the rules.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from annotations.models import ACTIVE, Annotator, Campaign, CampaignKind, Selection
from evaluations.models import Criterion
from evaluations.models.query_arrays import (
    fetch_groups,
    fetch_numbers,
    id_list,
    ids_of_key,
    two_ids,
)
from geval.reports.human_scores import (
    ChoosingCampaign,
    HumanScores,
    Rater,
    Sampled,
    human_scores_of,
    sampling_by_criterion,
)
from geval.statistics.arrays import positions
from geval.statistics.types import FloatArray, IntArray

# Whether an answer's annotator saw scores: earlier versions hid them from some.
IN_SIGHT = "c.show_scores AND a.scores_shown IS DISTINCT FROM false"
# Answers given in one campaign, even if a newer answer of the same person counts elsewhere.
_IN_ROUND = f"""(SELECT g.key::bigint AS criterion_id, a.shown[1] AS output_id, a.annotator_id,
        g.value::float8 AS score,
        {IN_SIGHT} AS scores_in_sight
    FROM annotations_assignment a JOIN annotations_campaign c ON c.id = a.campaign_id
    JOIN annotations_campaignitem i ON i.id = a.item_id AND i.kind = 'ordinary'
    CROSS JOIN LATERAL jsonb_each_text(a.answer -> 'scores') AS g(key, value)
    WHERE c.id = {{}} AND c.kind = 'rating' AND a.state = 'submitted')"""


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
    is_person = np.array([not rater.is_mean for rater in raters], dtype=bool)
    # By criterion, and by whether LLM scores were visible.
    rows = fetch_groups(
        two_ids("r.criterion_id", "r.scores_in_sight::int"),
        ["r.output_id", "r.annotator_id", "coalesce(r.score, 'NaN')"],
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
        is_number = ~np.isnan(score)
        is_there = (at_output >= 0) & is_number
        in_sight = sum(
            int(((positions(columns[0], outputs) >= 0) & ~np.isnan(columns[2])).sum())
            for was_in_sight, columns in parts
            if was_in_sight
        )
        is_na = (at_output >= 0) & ~is_number & is_person[at_rater]
        human = human_scores_of(
            at_output[is_there],
            at_rater[is_there],
            score[is_there],
            outputs=len(outputs),
            raters=raters,
            in_sight=in_sight,
        )
        human_scores[criterion_id] = replace(
            human,
            decided=decided.get(criterion_id),
            said_na=(
                np.column_stack((at_output[is_na], annotator[is_na].astype(np.int64)))
                if is_na.any()
                else None
            ),
        )
    return human_scores


def _decided(project_id: int, outputs: IntArray, round_id: int) -> dict[int, FloatArray]:
    """Return adjudicators' newest decisions by criterion id; shape (outputs,), NaN without a
    decision and NO_POINT for "n/a"."""
    within = f"c.id = {int(round_id)}" if round_id else f"c.project_id = {int(project_id)}"
    rows = fetch_groups(
        "n.criterion_id",
        ["n.output_id", "coalesce(n.score, '-Infinity')"],
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


def with_weights(
    project_id: int, humans: Mapping[int, HumanScores], *, outputs: IntArray, round_id: int = 0
) -> dict[int, HumanScores]:
    """Return the ratings by criterion id, with the sampling weights of outputs.

    Args:
        outputs: shape (outputs,), the ids of the outputs that `humans` are about.
        round_id: the campaign that all of `humans` are from; 0: from anywhere.
    """
    samples = sampled(project_id, humans, outputs=outputs, round_id=round_id)
    return {pk: samples[pk].weighing(human) if samples else human for pk, human in humans.items()}


def weighted_scores(project_id: int, criterion_id: int, outputs: IntArray) -> HumanScores:
    """Return the ratings of some outputs on one criterion, with their weights.

    Args:
        outputs: shape (outputs,), ids in ascending order.
    """
    scores = human_scores(project_id, [criterion_id], outputs=outputs)
    return with_weights(project_id, scores, outputs=outputs)[criterion_id]


def sampled(
    project_id: int, humans: Mapping[int, HumanScores], *, outputs: IntArray, round_id: int = 0
) -> dict[int, Sampled]:
    """Return the inclusion probabilities of outputs by criterion id; empty if no outputs were
    sampled. Probabilities stated by files belong to no round."""
    campaigns = _choosing_campaigns(project_id)
    if round_id:
        campaigns = {pk: campaign for pk, campaign in campaigns.items() if pk == round_id}
    stated = {} if round_id else _probabilities_of_files(project_id)
    return sampling_by_criterion(humans, list(campaigns.values()), stated, outputs=outputs)


def stated_probabilities(project_id: int) -> tuple[IntArray, IntArray, FloatArray]:
    """Return the probabilities to write to a file so that its copy of the ratings gets the same
    weights: outputs, criteria and probabilities, shape (rated,) each. Probability 1 (a census) is
    omitted; 0 marks outputs that campaigns without a design chose."""
    nothing = np.array([], dtype=np.int64)
    if not _choosing_campaigns(project_id) and not _probabilities_of_files(project_id):
        return nothing, nothing, np.array([])
    outputs = np.sort(
        fetch_numbers(
            ["o.id"],
            f"""FROM evaluations_candidateoutput o
                JOIN evaluations_document d ON d.id = o.document_id
                WHERE d.project_id = {int(project_id)}""",
        )[:, 0].astype(np.int64)
    )
    criteria = list(Criterion.objects.filter(project_id=project_id).values_list("pk", flat=True))
    humans = human_scores(project_id, criteria, outputs=outputs)
    stated = []
    for pk, of in sampled(project_id, humans, outputs=outputs).items():
        probability = np.where(of.top, 0.0, of.probability)
        indexes = np.flatnonzero(~np.isnan(humans[pk].mean) & (probability < 1))
        stated.append(
            (outputs[indexes], np.full(len(indexes), pk, dtype=np.int64), probability[indexes])
        )
    parts = [np.concatenate(side) for side in zip(*stated, strict=True)]
    return (parts[0], parts[1], parts[2]) if parts else (nothing, nothing, np.array([]))


def _choosing_campaigns(project_id: int) -> dict[int, ChoosingCampaign]:
    """Return a project's rating campaigns that chose some of the outputs, by id: those with a
    design, and those that took the top."""
    chosen = {
        pk: (selection, frozenset(criteria))
        for pk, selection, criteria in _sampling_campaigns(project_id)
    }
    if not chosen:
        return {}
    within = f"campaign_id IN ({id_list(list(chosen))})"
    probabilities = fetch_groups(
        "i.campaign_id",
        ["i.output_id", "i.probability"],
        f"FROM annotations_inclusion i WHERE {within}",
    )
    asked = fetch_groups(
        "a.campaign_id",
        ["o.id", "a.annotator_id"],
        f"""FROM annotations_assignment a
            JOIN annotations_campaignitem i ON i.id = a.item_id AND i.kind = 'ordinary'
            CROSS JOIN LATERAL unnest(i.outputs) AS o(id)
            WHERE a.{within} AND a.state = 'submitted'""",
    )
    items = fetch_groups(
        "i.campaign_id",
        ["1"],
        f"FROM annotations_campaignitem i WHERE i.{within} AND i.kind = 'ordinary'",
    )
    campaigns = {}
    for pk, (selection, criteria) in chosen.items():
        has_design = pk in probabilities
        if not has_design and selection not in (*ACTIVE, Selection.TOP):
            continue  # opened before campaigns stored probabilities: a census of what was rated
        if pk in asked:
            answers = np.stack(asked[pk], axis=1)
            answered = len(np.unique(answers[:, 0])) / len(items[pk][0])
            probability = np.stack(probabilities[pk], axis=1) if has_design else None
            campaigns[pk] = ChoosingCampaign(criteria, answers, answered, probability)
    return campaigns


def _sampling_campaigns(project_id: int) -> list[tuple[int, str, list[int]]]:
    campaigns = Campaign.objects.filter(
        project_id=project_id, kind=CampaignKind.RATING, sample_size__isnull=False
    ).exclude(selection=Selection.ALL)
    return [
        (campaign.pk, campaign.selection, [criterion.pk for criterion in campaign.criteria.all()])
        for campaign in campaigns.prefetch_related("criteria")
    ]


def _probabilities_of_files(project_id: int) -> dict[int, tuple[FloatArray, FloatArray]]:
    """Return outputs and probabilities stated by files, by criterion id."""
    rows = fetch_groups(
        "s.criterion_id",
        ["s.output_id", "s.probability"],
        f"""FROM annotations_statedprobability s
            JOIN evaluations_criterion c ON c.id = s.criterion_id
            WHERE c.project_id = {int(project_id)}""",
    )
    return {pk: (output, probability) for pk, (output, probability) in rows.items()}
