"""Plan a campaign before it is created: how much it takes to reach a goal, at this project's time
and cost per item."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import Exists, OuterRef

from annotations.goals.goals import values_of
from annotations.models import Annotator, CampaignGoal, GoalKind
from annotations.planning.drafts import ASKS, SAME, compared_with_itself, goal_fields, goal_of
from annotations.planning.values import Errors, checked
from evaluations.models import Judge, Project
from evaluations.people.access import EDITORS
from evaluations.reports.judge_costs import PER, costs_of
from geval.measuring.plans import Plan, PlanGoal, UnitCosts, plan_of
from geval.reports.data import ReportData
from geval_site.sql import fetch_value

# The projects are options of a form's list.
MOST_PILOTS = 50
# Larger than any scale, and small enough to be squared.
MOST_DIFFERENCE = 1_000_000


@dataclass(frozen=True)
class PlanRequest:
    """What to plan for: a goal, unsaved, and as in `plan` a difference and a price."""

    aim: CampaignGoal
    difference: float | None
    price: Decimal | None

    def plan(self, data: ReportData) -> Plan:
        return plan(self.aim, data, difference=self.difference, price=self.price)


def plan_fields(kind: GoalKind, project: Project) -> dict[str, forms.Field]:
    """Return form fields that validate each value of a plan for this kind of goal separately."""
    asked = ("criterion", *ASKS[kind])
    fields = {name: field for name, field in goal_fields(project).items() if name in asked}
    for field in fields.values():
        field.required = True
    if kind != GoalKind.WIDTH:
        fields["difference"] = forms.FloatField(
            required=False, min_value=0.001, max_value=MOST_DIFFERENCE
        )
    fields["price"] = forms.DecimalField(
        required=False, min_value=0, max_digits=12, decimal_places=4
    )
    return fields


def plan_request(kind: GoalKind, values: Mapping[str, Any], project: Project) -> PlanRequest:
    """Return what values, by the names of `plan_fields`, ask to plan for.

    Raises:
        ValidationError: by field.
    """
    errors: Errors = {}
    valid = {
        name: checked(errors, name, values.get(name), field.clean)
        for name, field in plan_fields(kind, project).items()
    }
    aim = goal_of(kind, valid)
    assert aim is not None
    if same := compared_with_itself(aim):
        errors[same] = [SAME]
    if errors:
        raise ValidationError(errors)
    return PlanRequest(aim, valid.get("difference"), valid["price"])


def plan(
    aim: CampaignGoal,
    data: ReportData,
    *,
    difference: float | None = None,
    price: Decimal | None = None,
) -> Plan:
    """Plan a campaign.

    Args:
        aim: the goal, which need not be saved.
        data: the pilot's numbers.
        difference: the smallest difference that matters when two are compared; None for the pilot's
            own.
        price: the price of one rating.
    """
    is_width = aim.kind == GoalKind.WIDTH
    units = data.units.unweighted
    return plan_of(
        PlanGoal(aim.width or 0.0) if is_width else PlanGoal(difference=difference),
        data.humans.get(aim.criterion_id),
        units,
        lambda mean: values_of(aim, data, units, mean),
        UnitCosts(seconds_per_rating(aim.criterion.project_id), price, _money_per_output(aim)),
    )


def seconds_per_rating(project_id: int) -> float | None:
    """Return the median active time per item in the project's campaigns, in seconds."""
    seconds = fetch_value(
        """SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY a.seconds)
           FROM annotations_assignment a
           JOIN annotations_campaign c ON c.id = a.campaign_id
           WHERE c.project_id = %s AND a.state = 'submitted' AND a.seconds IS NOT NULL""",
        [project_id],
    )
    return None if seconds is None else float(seconds)


def _money_per_output(aim: CampaignGoal) -> Decimal | None:
    """Return the cost of the judges' calls per output, from their past runs; None if unknown."""
    judges: list[Judge] = [side for side in aim.sides if isinstance(side, Judge)]
    prices = [cost.money for cost in costs_of(judges)]
    costs = [money for money in prices if money is not None]
    return sum(costs, Decimal(0)) / PER if costs else None


def other_pilots(project: Project, user: Any) -> list[Project]:
    """Return other projects with ratings and judges that a user may edit, and so may use for
    planning."""
    has_ratings, has_judges = (
        Exists(model.objects.filter(project=OuterRef("pk"))) for model in (Annotator, Judge)
    )
    projects = Project.objects.filter(memberships__user=user, memberships__role__in=EDITORS)
    others = projects.exclude(pk=project.pk).filter(has_ratings, has_judges)
    return list(others.order_by("name")[:MOST_PILOTS])
