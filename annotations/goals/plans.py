"""Before a campaign: what it takes to find out what it is to find out, with this project's seconds
and prices."""

from decimal import Decimal
from typing import Any

from django.db import connection
from django.db.models import Exists, OuterRef

from annotations.goals.goals import values_of
from annotations.models import Annotator, CampaignGoal, GoalKind
from evaluations.models import Judge, Project
from evaluations.people.access import EDITORS
from evaluations.reports.judge_costs import PER, cost_of
from geval.reports.data import ReportData
from geval.reports.plans import Aim, Costs, Plan, plan_of

MOST_PILOTS = 50


def plan(
    aim: CampaignGoal,
    data: ReportData,
    *,
    difference: float | None = None,
    price: Decimal | None = None,
) -> Plan:
    """Plan a campaign.

    Args:
        aim: what it is to find out; it need not be saved.
        data: the pilot's numbers.
        difference: the smallest that matters, where two are compared; None for the pilot's own.
        price: of one rating.
    """
    is_width = aim.kind == GoalKind.WIDTH
    units = data.units.unweighted
    return plan_of(
        Aim(aim.width or 0.0) if is_width else Aim(difference=difference),
        data.humans.get(aim.criterion_id),
        units,
        lambda mean: values_of(aim, data, units, mean),
        Costs(_seconds_per_rating(aim.criterion.project_id), price, _money_per_output(aim)),
    )


def _seconds_per_rating(project_id: int) -> float | None:
    """The median time that an item of the project's campaigns took, idle time left out."""
    with connection.cursor() as cursor:
        cursor.execute(
            """SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY a.seconds)
               FROM annotations_assignment a
               JOIN annotations_campaign c ON c.id = a.campaign_id
               WHERE c.project_id = %s AND a.state = 'submitted' AND a.seconds IS NOT NULL""",
            [project_id],
        )
        seconds = cursor.fetchone()[0]
        return None if seconds is None else float(seconds)


def _money_per_output(aim: CampaignGoal) -> Decimal | None:
    """What the judges' calls for one output cost, by their runs so far; None where nothing is
    known."""
    judges: list[Judge] = [side for side in aim.sides if isinstance(side, Judge)]
    prices = [cost_of(judge).money for judge in judges]
    costs = [money for money in prices if money is not None]
    return sum(costs, Decimal(0)) / PER if costs else None


def other_pilots(project: Project, user: Any) -> list[Project]:
    """Other projects with ratings and scores that a user may plan in, and so may plan from."""
    has_ratings, has_judges = (
        Exists(model.objects.filter(project=OuterRef("pk"))) for model in (Annotator, Judge)
    )
    own = Project.objects.filter(memberships__user=user, memberships__role__in=EDITORS)
    others = own.exclude(pk=project.pk).filter(has_ratings, has_judges)
    return list(others.order_by("name")[:MOST_PILOTS])
