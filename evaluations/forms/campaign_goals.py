"""The fields of a campaign's form that say what it is to find out."""

from typing import Any

from django import forms

from annotations.models import (
    Campaign,
    CampaignGoal,
    CampaignKind,
    GoalKind,
    ItemOrder,
    Selection,
)
from evaluations.models import Project

GOAL = ("goal_kind", "goal_criterion", "goal_width", "goal_judge", "goal_rival",
        "goal_system", "goal_other")  # fmt: skip
# What each goal asks for besides the criterion.
ASKS = {
    GoalKind.WIDTH: ("goal_width", "goal_judge"),
    GoalKind.JUDGES: ("goal_judge", "goal_rival"),
    GoalKind.SYSTEMS: ("goal_system", "goal_other"),
}


class GoalFields(forms.Form):
    """A form with these fields; `set_up_goal` fills them, `save_goal` stores them."""

    goal_kind = forms.ChoiceField(
        label="Close by itself when",
        required=False,
        choices=[("", "never"), *GoalKind.choices],
        help_text=(
            "For ratings of all outputs or of whole documents, document by document. The interval"
            " is one that may be looked at after every answer."
        ),
    )
    goal_criterion: forms.ModelChoiceField = forms.ModelChoiceField(
        None, label="On the criterion", required=False
    )
    goal_width = forms.FloatField(
        label="Width, plus and minus", required=False, min_value=0.01, max_value=0.5
    )
    goal_judge: forms.ModelChoiceField = forms.ModelChoiceField(None, label="Judge", required=False)
    goal_rival: forms.ModelChoiceField = forms.ModelChoiceField(
        None, label="Other judge", required=False
    )
    goal_system: forms.ModelChoiceField = forms.ModelChoiceField(
        None, label="System", required=False
    )
    goal_other: forms.ModelChoiceField = forms.ModelChoiceField(
        None, label="Other system", required=False
    )

    def set_up_goal(self, project: Project, campaign: Campaign) -> None:
        choices = {
            "goal_criterion": project.criteria.all(),
            "goal_judge": project.judges.filter(retired_at=None),
            "goal_rival": project.judges.filter(retired_at=None),
            "goal_system": project.systems.all(),
            "goal_other": project.systems.all(),
        }
        for name, those in choices.items():
            self.fields[name].queryset = those  # type: ignore[attr-defined]
        goal = CampaignGoal.objects.filter(campaign=campaign.pk).first() if campaign.pk else None
        if goal is not None:
            for name in GOAL:
                self.initial[name] = getattr(goal, name.removeprefix("goal_"))

    def check_goal(self, data: dict[str, Any]) -> None:
        kind = data.get("goal_kind")
        if not kind:
            return
        for name in ("goal_criterion", *ASKS[GoalKind(kind)]):
            if data.get(name) is None and name not in self.errors:
                self.add_error(name, "This goal needs it.")
        for one, two in (("goal_judge", "goal_rival"), ("goal_system", "goal_other")):
            if two in ASKS[GoalKind(kind)] and data.get(one) and data.get(one) == data.get(two):
                self.add_error(two, "Choose another one to compare with.")
        if data.get("goal_criterion") not in list(data.get("criteria") or ()):
            self.add_error("goal_criterion", "Choose one of the campaign's criteria.")
        is_whole = data.get("selection") == Selection.ALL or data.get("whole_documents")
        in_order = data.get("order") == ItemOrder.DOCUMENT or data.get("whole_documents")
        if data.get("kind") != CampaignKind.RATING or not is_whole or not in_order:
            self.add_error(
                "goal_kind",
                "A goal is for ratings of all outputs or of whole documents, document by document:"
                " it follows what each document says.",
            )

    def save_goal(self, campaign: Campaign) -> None:
        """Store the goal, or remove it where none is chosen."""
        data = self.cleaned_data
        kind = data.get("goal_kind")
        if not kind:
            CampaignGoal.objects.filter(campaign=campaign).delete()
            return
        asked = ASKS[GoalKind(kind)]
        values = {
            name.removeprefix("goal_"): data[name] if name in asked else None for name in GOAL[2:]
        }
        CampaignGoal.objects.update_or_create(
            campaign=campaign,
            defaults={"kind": kind, "criterion": data["goal_criterion"], **values},
        )
