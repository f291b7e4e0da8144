"""Whether a campaign has found out what it was to find out; then it closes itself.

The interval is looked at after every answer, so it is one that holds at any time. Documents count
when all their items have all their answers, in the order that was drawn before the first of them.
"""

from dataclasses import dataclass

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
from evaluations.models.noted_changes import state_of
from evaluations.models.query_arrays import fetch_numbers
from evaluations.models.row_by_row import for_each
from evaluations.reports.data import load_data
from geval.reports.data import ReportData
from geval.reports.memo import digest_of
from geval.reports.plans import Telling
from geval.statistics.anytime import RHO, TWO_RHOS, confidence_sequence
from geval.statistics.correlation import coefficients_by_document, mean_of_documents
from geval.statistics.jackknife import LeftOut, within
from geval.statistics.layout import Outputs, mean_of, positions
from geval.statistics.planning import Needed, for_any_time
from geval.statistics.resampling import Interval
from geval.statistics.same_documents import Ranked, on_same_documents
from geval.statistics.types import FloatArray, IntArray


@dataclass(frozen=True)
class Standing:
    """How far a campaign is towards its goal: an interval that holds at any time, of `documents`
    that count out of `planned`; `needed` is how many documents the goal will likely take in all,
    `promised` how many do in nine of ten cases. Without any that counts there is no interval.
    `fixed` is the interval of as many documents had their number been decided on beforehand, and
    `ranked` in how many of them each of two judges ranks anything."""

    documents: int
    planned: int
    estimate: float | None = None
    low: float | None = None
    high: float | None = None
    is_reached: bool = False
    needed: int | None = None
    promised: int | None = None
    fixed: Interval | None = None
    ranked: Ranked | None = None

    @property
    def half_width(self) -> float | None:
        return None if self.low is None or self.high is None else (self.high - self.low) / 2


@dataclass(frozen=True, eq=False)
class _Sequence:
    """Values of documents in the order in which they count, each between minus and plus `most`;
    `weight` as the campaign drew them, of at most `largest`. `ranked` is as in `Telling`."""

    values: FloatArray
    most: float
    planned: int
    weight: FloatArray | None
    largest: float
    ranked: Ranked | None = None


def standing(goal: CampaignGoal, data: ReportData) -> Standing:
    """Where a campaign stands.

    Args:
        data: has the goal's criterion and judges.
    """
    sequence = _sequence(goal, data)
    count = len(sequence.values)
    if not count:
        return Standing(0, sequence.planned)
    (ends,) = confidence_sequence(
        sequence.values,
        [count],
        lowest=-sequence.most,
        highest=sequence.most,
        weight=sequence.weight,
        largest=sequence.largest,
    )
    half = (ends.high - ends.low) / 2
    estimate = mean_of_documents(sequence.values, sequence.weight)
    if goal.kind == GoalKind.WIDTH:
        wanted, now = goal.width or 0.0, half
        is_reached = half <= wanted
    else:
        # The end on the side of 0 has to pass it. The other one may be cut off where values end.
        wanted = abs(estimate)
        now = estimate - ends.low if estimate > 0 else ends.high - estimate
        is_reached = not ends.low <= 0 <= ends.high
    needed = Needed(None, None)
    if not is_reached and wanted > 0:
        needed = for_any_time(
            sequence.values, wanted, lowest=-sequence.most, highest=sequence.most, now=now
        )
    # How large a difference is, is not known well enough to promise when it is found.
    promised = needed.promised if goal.kind == GoalKind.WIDTH else None
    fixed = LeftOut.each(count).mean_interval(sequence.values, weight=sequence.weight)
    return Standing(
        count, sequence.planned, estimate, ends.low, ends.high, is_reached, needed.likely, promised,
        within(fixed, -sequence.most, sequence.most), sequence.ranked,
    )  # fmt: skip


def close_reached_campaigns() -> None:
    """Close the open campaigns that have reached their goals, of those with new ratings or
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
    # Last: whoever is stopped before closes it with the next look.
    CampaignGoal.objects.filter(pk=goal.pk).update(seen=seen)


@transaction.atomic
def _close(goal: CampaignGoal, found: Standing) -> None:
    if not close_campaign(goal.campaign, reason="goal reached"):
        return
    CampaignGoal.objects.filter(pk=goal.pk).update(
        reached_at=timezone.now(), documents=found.documents, low=found.low, high=found.high
    )
    AuditEntry.objects.note_by_site(goal.campaign.project_id, "campaign_goal", goal.campaign.name)


def _sequence(goal: CampaignGoal, data: ReportData) -> _Sequence:
    units, human = data.units, data.humans[goal.criterion_id].mean
    place, is_complete = _progress(goal.campaign, data)
    asked = place >= 0
    # By document: where it comes, and whether all that is asked of it is answered.
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
    return _Sequence(
        by_document[order],
        telling.most,
        int(planned.sum()),
        None if weight is None else weight[order],
        largest,
        telling.ranked,
    )


def values_of(goal: CampaignGoal, data: ReportData, units: Outputs, human: FloatArray) -> Telling:
    """What each document says of a goal; two judges are compared on the same documents, ties
    counted.

    Args:
        human: shape (outputs,), the mean rating of each, NaN for none.
    """
    if goal.kind == GoalKind.SYSTEMS:
        scale = goal.criterion.scale
        sides = []
        for system in (goal.system_id, goal.other_id):
            mine = (data.system_ids[units.system] == system) & ~np.isnan(human)
            part = units.part(mine)
            sides.append(mean_of(part.by_document(human[mine]), part.by_document()))
        return Telling(sides[0] - sides[1], scale.highest - scale.lowest)
    nothing = np.full(len(human), np.nan)
    judges = [pk for pk in (goal.judge_id, goal.rival_id) if pk is not None]
    scores = [data.judges.get((goal.criterion_id, pk), nothing) for pk in judges]
    shared = np.where(np.isnan(np.sum(scores, axis=0)), np.nan, human)
    if goal.kind == GoalKind.JUDGES:
        same = on_same_documents(units, shared, scores[0], scores[1])
        return Telling(same.difference, TWO_RHOS, same.ranked)
    return Telling(coefficients_by_document(units, shared, scores[0], "spearman"), RHO)


def _progress(campaign: Campaign, data: ReportData) -> tuple[IntArray, np.ndarray]:
    """The position of each output in the campaign, -1 for none, and whether it has all its
    answers; shape (outputs,) each."""
    rows = fetch_numbers(
        ["o.id", "i.position", f"(i.places = 0 AND n.answers >= {int(campaign.overlap)})::int"],
        f"""FROM annotations_campaignitem i
            CROSS JOIN LATERAL unnest(i.outputs) AS o(id)
            CROSS JOIN LATERAL (
                SELECT count(*) AS answers FROM annotations_assignment a
                WHERE a.item_id = i.id AND a.state = '{AssignmentState.SUBMITTED.value}') AS n
            WHERE i.campaign_id = {int(campaign.pk)} AND i.kind = '{ItemKind.ORDINARY.value}'""",
    )
    place = np.full(len(data.output_ids), -1, dtype=np.int64)
    is_complete = np.zeros(len(data.output_ids), dtype=bool)
    at = positions(rows[:, 0], data.output_ids)
    place[at[at >= 0]] = rows[at >= 0, 1].astype(np.int64)
    is_complete[at[at >= 0]] = rows[at >= 0, 2] > 0
    return place, is_complete


def _weights(
    campaign: Campaign, data: ReportData, units: Outputs
) -> tuple[FloatArray | None, float]:
    """One by the probability with which the campaign drew each document, shape (documents,), and
    the largest; None where all are the same."""
    rows = fetch_numbers(
        ["i.output_id", "i.probability"],
        f"FROM annotations_inclusion i WHERE i.campaign_id = {int(campaign.pk)}",
    )
    if not len(rows) or np.ptp(rows[:, 1]) == 0:
        return None, 1.0
    at = positions(rows[:, 0], data.output_ids)
    weight = np.ones(units.documents)
    weight[units.document[at[at >= 0]]] = 1 / rows[at >= 0, 1]
    return weight, float(1 / rows[:, 1].min())
