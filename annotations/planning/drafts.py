"""Validate a campaign before it is stored as a draft, for its page and the API."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from annotations.models import (
    ACTIVE,
    Campaign,
    CampaignGoal,
    CampaignKind,
    GoalKind,
    ItemOrder,
    Selection,
)
from evaluations.models import Criterion, Project
from evaluations.models.goals import LACKING
from geval.statistics.goal_widths import LEAST_GOAL_WIDTH, MOST_GOAL_WIDTH

# The fields of each goal, besides the criterion.
ASKS = {
    GoalKind.WIDTH: ("width", "judge"),
    GoalKind.JUDGES: ("judge", "rival"),
    GoalKind.SYSTEMS: ("system", "other"),
}
ASKED = tuple(dict.fromkeys(name for names in ASKS.values() for name in names))
SAME = "Choose another one to compare with."
# Designs that can draw documents with all their outputs.
WHOLE = (Selection.SAMPLE, *ACTIVE)


def goal_choices(project: Project) -> dict[str, Any]:
    """Return the records that a goal can name, by field."""
    judges, systems = project.judges.filter(retired_at=None), project.systems.all()
    return {
        "criterion": project.criteria.without_rubrics().filter(is_ordered=True),
        "judge": judges,
        "rival": judges,
        "system": systems,
        "other": systems,
    }


def goal_fields(project: Project) -> dict[str, forms.Field]:
    """Return form fields that validate each value of a goal separately."""
    return {
        **{
            name: forms.ModelChoiceField(those, required=False)
            for name, those in goal_choices(project).items()
        },
        "width": forms.FloatField(
            required=False, min_value=LEAST_GOAL_WIDTH, max_value=MOST_GOAL_WIDTH
        ),
    }


def goal_of(kind: GoalKind | str | None, values: Mapping[str, Any]) -> CampaignGoal | None:
    """Return the goal with its kind's fields, taken from some values; None without a kind."""
    if not kind:
        return None
    asked = ("criterion", *ASKS[GoalKind(kind)])
    return CampaignGoal(kind=kind, **{name: values.get(name) for name in asked})


def compared_with_itself(goal: CampaignGoal) -> str:
    """Return the second of two fields if a goal compares a record with itself; otherwise ""."""
    first, second = (goal.serializable_value(name) for name in ASKS[GoalKind(goal.kind)])
    return ASKS[GoalKind(goal.kind)][1] if second is not None and first == second else ""


def free_name(campaign: Campaign, name: str) -> str:
    """Return the name if no other campaign of the project has it.

    Raises:
        ValidationError: another campaign has it.
    """
    if campaign.project.campaigns.filter(name=name).exclude(pk=campaign.pk).exists():
        raise ValidationError(f"A campaign named “{name}” already exists.")
    return name


@dataclass(frozen=True)
class Draft:
    """A campaign with its criteria and its goal, not stored yet; each value is valid on its own, or
    None."""

    campaign: Campaign
    criteria: Sequence[Criterion]
    goal: CampaignGoal | None

    def problems(self) -> Iterator[tuple[str, str]]:
        """Yield why the draft cannot be stored, as fields with messages. Fields of the goal begin
        with "goal_"."""
        yield from _problems_of_design(self.campaign, self.criteria)
        yield from _problems_of_checks(self.campaign)
        if self.goal is not None:
            yield from _problems_of_goal(self.campaign, self.criteria, self.goal)

    def save(self) -> None:
        """Store the draft as a new campaign; call this in a transaction."""
        self.campaign.save()
        self.campaign.criteria.set(self.criteria)
        save_goal(self.campaign, self.goal)


def _problems_of_design(
    campaign: Campaign, criteria: Sequence[Criterion]
) -> Iterator[tuple[str, str]]:
    if campaign.is_rating and not criteria:
        yield "criteria", "Choose at least one criterion to rate outputs on."
    if campaign.selection != Selection.ALL and not campaign.sample_size:
        yield "sample_size", "Enter the number of items."
    if not campaign.is_rating and campaign.selection == Selection.STRATIFIED:
        yield (
            "selection",
            "A sample by system is only for ratings; pairs are always balanced over systems.",
        )
    if campaign.whole_documents and not (campaign.is_rating and campaign.selection in WHOLE):
        yield (
            "whole_documents",
            "Whole documents are drawn for ratings of a random sample, or of one with more"
            " where judges disagree or the estimate needs it.",
        )


def _problems_of_checks(campaign: Campaign) -> Iterator[tuple[str, str]]:
    gold = len(campaign.gold)
    if campaign.practice_items > gold:
        yield (
            "practice_items",
            f"There are {gold} items with known answers; add more, or reduce the practice items.",
        )
    if campaign.attention_checks and campaign.kind not in (
        CampaignKind.RATING,
        CampaignKind.PAIRWISE,
    ):
        yield "attention_checks", "Attention checks are only for ratings and pairs."
    if campaign.check_percent and gold <= campaign.practice_items and not campaign.attention_checks:
        yield (
            "check_percent",
            "Add known answers beyond the practice items, or use attention checks.",
        )
    if campaign.attention_checks and not campaign.check_percent:
        yield "check_percent", "Enter the share of items that are checks."


def _problems_of_goal(
    campaign: Campaign, criteria: Sequence[Criterion], goal: CampaignGoal
) -> Iterator[tuple[str, str]]:
    for name in ("criterion", *ASKS[GoalKind(goal.kind)]):
        if goal.serializable_value(name) is None:
            yield f"goal_{name}", LACKING
    if same := compared_with_itself(goal):
        yield f"goal_{same}", SAME
    on = goal.serializable_value("criterion")
    if on is not None and on not in [criterion.pk for criterion in criteria]:
        yield "goal_criterion", "Choose one of the campaign's criteria."
    is_whole = campaign.selection == Selection.ALL or campaign.whole_documents
    in_order = campaign.order == ItemOrder.DOCUMENT or campaign.whole_documents
    if not (campaign.is_rating and is_whole and in_order):
        yield (
            "goal_kind",
            "A goal counts document by document, so it needs ratings of all outputs or of whole"
            " documents, in the order of documents. Change the task, selection or order, or"
            " choose “Never”.",
        )


def save_goal(campaign: Campaign, goal: CampaignGoal | None) -> None:
    """Store the goal in place of the previous one, or remove that."""
    CampaignGoal.objects.filter(campaign=campaign).delete()
    if goal is not None:
        goal.campaign = campaign
        goal.save()
