"""The fields of a campaign's form that say what it is to find out."""

from collections.abc import Mapping
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
from evaluations.models.runs import LEAST_GOAL_WIDTH, MOST_GOAL_WIDTH
from evaluations.web.field_groups import show_for_choices

# What each goal asks for besides the criterion.
ASKS = {
    GoalKind.WIDTH: ("width", "judge"),
    GoalKind.JUDGES: ("judge", "rival"),
    GoalKind.SYSTEMS: ("system", "other"),
}
ASKED = tuple(dict.fromkeys(name for names in ASKS.values() for name in names))
GOAL = tuple(f"goal_{name}" for name in ("kind", "criterion", *ASKED))
LACKING = "This goal needs a value here."
SAME = "Choose another one to compare with."


def goal_choices(project: Project) -> dict[str, Any]:
    """The records that a goal can name, by what it asks for."""
    judges, systems = project.judges.filter(retired_at=None), project.systems.all()
    return {
        "criterion": project.criteria.all(),
        "judge": judges,
        "rival": judges,
        "system": systems,
        "other": systems,
    }


def compared_with_itself(kind: GoalKind, data: Mapping[str, Any], prefix: str = "") -> str:
    """The second of two fields that name the same, where a goal compares them; "" for none."""
    first, second = (f"{prefix}{name}" for name in ASKS[kind])
    return second if data.get(second) is not None and data.get(first) == data[second] else ""


class GoalFields(forms.Form):
    """A form with these fields; `set_up_goal` fills them, `save_goal` stores them."""

    goal_kind = forms.ChoiceField(
        label="Close by itself when",
        required=False,
        choices=[("", "Never"), *GoalKind.choices],
        help_text=(
            "For ratings of all outputs or of whole documents, in the order of documents. It goes"
            " by the interval that is valid at any time, which is wider than the report's."
        ),
    )
    goal_criterion: forms.ModelChoiceField = forms.ModelChoiceField(
        None, label="On the criterion", required=False
    )
    goal_width = forms.FloatField(
        label="Known within, plus and minus",
        required=False,
        min_value=LEAST_GOAL_WIDTH,
        max_value=MOST_GOAL_WIDTH,
        help_text="Of the judge's rho; 0.05 is usual. Not for two judges or systems.",
    )
    goal_judge: forms.ModelChoiceField = forms.ModelChoiceField(None, label="Judge", required=False)
    goal_rival: forms.ModelChoiceField = forms.ModelChoiceField(
        None, label="Other judge", required=False, help_text="Only for two judges."
    )
    goal_system: forms.ModelChoiceField = forms.ModelChoiceField(
        None, label="System", required=False, help_text="Only for two systems."
    )
    goal_other: forms.ModelChoiceField = forms.ModelChoiceField(
        None, label="Other system", required=False, help_text="Only for two systems."
    )

    def set_up_goal(self, project: Project, campaign: Campaign) -> None:
        asks: dict[str, list[str]] = {
            kind: [f"goal_{name}" for name in ("criterion", *names)] for kind, names in ASKS.items()
        }
        show_for_choices(self, "goal_kind", asks)
        for name, those in goal_choices(project).items():
            self.fields[f"goal_{name}"].queryset = those  # type: ignore[attr-defined]
        goal = CampaignGoal.objects.filter(campaign=campaign.pk).first() if campaign.pk else None
        if goal is not None:
            for name in GOAL:
                self.initial[name] = getattr(goal, name.removeprefix("goal_"))

    def check_goal(self, data: dict[str, Any]) -> None:
        if not data.get("goal_kind"):
            return
        kind = GoalKind(data["goal_kind"])
        for name in (f"goal_{name}" for name in ("criterion", *ASKS[kind])):
            if data.get(name) is None and name not in self.errors:
                self.add_error(name, LACKING)
        if same := compared_with_itself(kind, data, "goal_"):
            self.add_error(same, SAME)
        on = data.get("goal_criterion")
        if on is not None and on not in list(data.get("criteria") or ()):
            self.add_error("goal_criterion", "Choose one of the campaign's criteria.")
        is_whole = data.get("selection") == Selection.ALL or data.get("whole_documents")
        in_order = data.get("order") == ItemOrder.DOCUMENT or data.get("whole_documents")
        if data.get("kind") != CampaignKind.RATING or not is_whole or not in_order:
            self.add_error(
                "goal_kind",
                "A goal counts document by document, so it needs ratings of all outputs or of whole"
                " documents, in the order of documents. Change the task, selection or order, or"
                " choose “Never”.",
            )

    def save_goal(self, campaign: Campaign) -> None:
        """Store the goal, or remove it where none is chosen."""
        data = self.cleaned_data
        kind = data.get("goal_kind")
        if not kind:
            CampaignGoal.objects.filter(campaign=campaign).delete()
            return
        asked = ASKS[GoalKind(kind)]
        values = {name: data[f"goal_{name}"] if name in asked else None for name in ASKED}
        CampaignGoal.objects.update_or_create(
            campaign=campaign,
            defaults={"kind": kind, "criterion": data["goal_criterion"], **values},
        )
