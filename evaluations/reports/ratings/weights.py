"""Sampling weights of a project's ratings, from the campaigns and files that say how outputs were
chosen (`geval/reports/weights.py` has the rules)."""

from collections.abc import Mapping

import numpy as np

from annotations.models import ACTIVE, Campaign, CampaignKind, Selection
from evaluations.models import Criterion
from evaluations.models.query_arrays import fetch_groups, fetch_numbers, id_list
from evaluations.reports.ratings.human_scores import human_scores
from geval.reports.human_scores import HumanScores
from geval.reports.weights import ChoosingCampaign, Sampled, sampling_by_criterion
from geval.statistics.types import FloatArray, IntArray


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
    campaigns = _campaigns(project_id)
    if round_id:
        campaigns = {pk: campaign for pk, campaign in campaigns.items() if pk == round_id}
    stated = {} if round_id else _stated(project_id)
    return sampling_by_criterion(humans, list(campaigns.values()), stated, outputs=outputs)


def stated_probabilities(project_id: int) -> tuple[IntArray, IntArray, FloatArray]:
    """Return the probabilities to write to a file so that its copy of the ratings gets the same
    weights: outputs, criteria and probabilities, shape (rated,) each. Probability 1 (a census) is
    omitted; 0 marks outputs that campaigns without a design chose."""
    nothing = np.array([], dtype=np.int64)
    if not _campaigns(project_id) and not _stated(project_id):
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


def _campaigns(project_id: int) -> dict[int, ChoosingCampaign]:
    """Return a project's rating campaigns that chose some of the outputs, by id: those with a
    design, and those that took the top."""
    chosen = {
        pk: (selection, frozenset(criteria))
        for pk, selection, criteria in _with_criteria(project_id)
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


def _with_criteria(project_id: int) -> list[tuple[int, str, list[int]]]:
    campaigns = Campaign.objects.filter(
        project_id=project_id, kind=CampaignKind.RATING, sample_size__isnull=False
    ).exclude(selection=Selection.ALL)
    return [
        (campaign.pk, campaign.selection, [criterion.pk for criterion in campaign.criteria.all()])
        for campaign in campaigns.prefetch_related("criteria")
    ]


def _stated(project_id: int) -> dict[int, tuple[FloatArray, FloatArray]]:
    """Return outputs and probabilities stated by files, by criterion id."""
    rows = fetch_groups(
        "s.criterion_id",
        ["s.output_id", "s.probability"],
        f"""FROM annotations_statedprobability s
            JOIN evaluations_criterion c ON c.id = s.criterion_id
            WHERE c.project_id = {int(project_id)}""",
    )
    return {pk: (output, probability) for pk, (output, probability) in rows.items()}
