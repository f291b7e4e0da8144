"""Whether a campaign has reached its goal; if so, it closes itself.

The interval is checked after every answer, so it is valid at any time. A document counts once all
its items have all their answers, in the order drawn before the first answer.
"""

import numpy as np
from django.db import transaction
from django.utils import timezone

from annotations.models import (
    AssignmentState,
    Campaign,
    CampaignGoal,
    CampaignState,
    GoalKind,
    ItemKind,
)
from annotations.planning.campaigns import close_campaign
from evaluations.models import AuditEntry
from evaluations.models.changes import state_of
from evaluations.models.query_arrays import fetch_numbers
from evaluations.models.row_by_row import for_each
from evaluations.reports.data import load_data
from geval.measuring.standing import (
    GoalSequence,
    GoalStanding,
    standing_of,
    system_differences,
)
from geval.reports.data import ReportData
from geval.reports.document_values import DocumentValues, judge_values
from geval.statistics.arrays import Outputs, positions
from geval.statistics.cache import digest_of
from geval.statistics.types import FloatArray, IntArray


def standing(goal: CampaignGoal, data: ReportData) -> GoalStanding:
    """Return a campaign's progress towards its goal.

    Args:
        data: must include the goal's criterion and judges.
    """
    width = (goal.width or 0.0) if goal.kind == GoalKind.WIDTH else None
    return standing_of(_sequence(goal, data), width)


def close_reached_campaigns() -> None:
    """Close the open campaigns that have reached their goals, checking those with new ratings or
    scores."""
    waiting = CampaignGoal.objects.filter(
        campaign__state=CampaignState.OPEN, reached_at=None
    ).select_related("campaign__project", "criterion", "judge", "rival", "system", "other")
    for_each(waiting, _look_at, job="goals of campaigns")


def _look_at(goal: CampaignGoal) -> None:
    project = goal.campaign.project
    seen = digest_of("goal", sorted(state_of(project.pk).items(), key=repr)).hex()
    if seen == goal.seen:
        return
    judges = [judge for judge in (goal.judge, goal.rival) if judge is not None]
    data = load_data(project, judges, [goal.criterion])
    state = standing(goal, data)
    if state.is_reached:
        _close(goal, state)
    # Last, so that an interrupted check is repeated next time.
    CampaignGoal.objects.filter(pk=goal.pk).update(seen=seen)


@transaction.atomic
def _close(goal: CampaignGoal, standing: GoalStanding) -> None:
    if not close_campaign(goal.campaign, reason="goal reached"):
        return
    CampaignGoal.objects.filter(pk=goal.pk).update(
        reached_at=timezone.now(),
        documents=standing.documents,
        low=standing.low,
        high=standing.high,
    )
    AuditEntry.objects.note_by_site(goal.campaign.project_id, "campaign_goal", goal.campaign.name)


def _sequence(goal: CampaignGoal, data: ReportData) -> GoalSequence:
    units, human = data.units, data.humans[goal.criterion_id].mean
    place, is_complete = _progress(goal.campaign, data)
    asked = place >= 0
    # By document: its position, and whether all its items are fully answered.
    first = np.full(units.documents, np.iinfo(np.int64).max)
    np.minimum.at(first, units.document[asked], place[asked])
    lacking = units.by_document((asked & ~is_complete).astype(float))
    planned = units.documents_with(asked)
    counting = planned & (lacking == 0)
    human = np.where(asked & counting[units.document], human, np.nan)
    telling = values_of(goal, data, units, human)
    by_document = telling.values
    order = np.argsort(first, kind="stable")
    order = order[~np.isnan(by_document[order])]
    weight, largest = _weights(goal.campaign, data, units)
    return GoalSequence(
        by_document[order],
        telling.lowest,
        telling.most,
        int(planned.sum()),
        None if weight is None else weight[order],
        largest,
        telling.ranked,
        None if units.group is None else units.group[order],
    )


def values_of(
    goal: CampaignGoal, data: ReportData, units: Outputs, human: FloatArray
) -> DocumentValues:
    """Return each document's contribution to a goal. Two judges are compared on the same documents,
    counting ties.

    Args:
        human: shape (outputs,), the mean rating of each output, NaN if unrated.
    """
    if goal.kind == GoalKind.SYSTEMS:
        scale = goal.criterion.scale
        most = scale.highest - scale.lowest
        return system_differences(data, units, human, (goal.system_id, goal.other_id), most)
    ids = (goal.judge_id, goal.rival_id if goal.kind == GoalKind.JUDGES else None)
    judges = [pk for pk in ids if pk is not None]
    nothing = np.full(len(human), np.nan)
    scores = [data.judges.get((goal.criterion_id, pk), nothing) for pk in judges]
    return judge_values(units, human, goal.criterion.scale, scores)


def _progress(campaign: Campaign, data: ReportData) -> tuple[IntArray, np.ndarray]:
    """Return the position of each output in the campaign (-1 if absent) and whether it has all its
    answers; both of shape (outputs,)."""
    planned = f"least({int(campaign.overlap)}, cardinality(i.kept_for))"
    rows = fetch_numbers(
        ["o.id", "i.position", f"(i.places = 0 AND n.answers >= {planned})::int"],
        f"""FROM annotations_campaignitem i
            CROSS JOIN LATERAL unnest(i.outputs) AS o(id)
            CROSS JOIN LATERAL (
                SELECT count(*) AS answers FROM annotations_assignment a
                WHERE a.item_id = i.id AND a.state = '{AssignmentState.SUBMITTED.value}') AS n
            WHERE i.campaign_id = {int(campaign.pk)} AND i.kind = '{ItemKind.ORDINARY.value}'""",
    )
    place = np.full(len(data.output_ids), -1, dtype=np.int64)
    is_complete = np.zeros(len(data.output_ids), dtype=bool)
    indexes = positions(rows[:, 0], data.output_ids)
    place[indexes[indexes >= 0]] = rows[indexes >= 0, 1].astype(np.int64)
    is_complete[indexes[indexes >= 0]] = rows[indexes >= 0, 2] > 0
    return place, is_complete


def _weights(
    campaign: Campaign, data: ReportData, units: Outputs
) -> tuple[FloatArray | None, float]:
    """Return the inverse of the probability with which the campaign drew each document, shape
    (documents,), and the largest weight; None if all are equal."""
    rows = fetch_numbers(
        ["i.output_id", "i.probability"],
        f"FROM annotations_inclusion i WHERE i.campaign_id = {int(campaign.pk)}",
    )
    if not len(rows) or np.ptp(rows[:, 1]) == 0:
        return None, 1.0
    indexes = positions(rows[:, 0], data.output_ids)
    weight = np.ones(units.documents)
    weight[units.document[indexes[indexes >= 0]]] = 1 / rows[indexes >= 0, 1]
    return weight, float(1 / rows[:, 1].min())
