"""The fields of a campaign's form that define its goal."""

from django import forms

from annotations.models import Campaign, CampaignGoal, GoalKind
from annotations.planning.drafts import ASKED, ASKS, goal_fields, goal_of
from evaluations.models import Project
from evaluations.web.field_groups import show_for_choices

GOAL = tuple(f"goal_{name}" for name in ("kind", "criterion", *ASKED))
# The label and the help text of each field.
SHOWN = {
    "criterion": ("On the criterion", ""),
    "width": (
        "Precision (±)",
        "Of the judge's rho; 0.05 is usual. Not for two judges or systems.",
    ),
    "judge": ("Judge", ""),
    "rival": ("Other judge", "Only for two judges."),
    "system": ("System", "Only for two systems."),
    "other": ("Other system", "Only for two systems."),
}


class GoalFields(forms.Form):
    """A form with the fields of a goal; `set_up_goal` fills them, `goal` reads them."""

    goal_kind = forms.ChoiceField(
        label="Close by itself when",
        required=False,
        choices=[("", "Never"), *GoalKind.choices],
        help_text=(
            "For ratings of all outputs or of whole documents, in the order of documents. It goes"
            " by the interval that is valid at any time, which is wider than the report's."
        ),
    )

    def set_up_goal(self, project: Project, campaign: Campaign) -> None:
        asks: dict[str, list[str]] = {
            kind: [f"goal_{name}" for name in ("criterion", *names)] for kind, names in ASKS.items()
        }
        for name, field in goal_fields(project).items():
            field.label, field.help_text = SHOWN[name]
            self.fields[f"goal_{name}"] = field
        show_for_choices(self, "goal_kind", asks)
        goal = CampaignGoal.objects.filter(campaign=campaign.pk).first() if campaign.pk else None
        if goal is not None:
            for name in GOAL:
                self.initial[name] = getattr(goal, name.removeprefix("goal_"))

    @property
    def goal(self) -> CampaignGoal | None:
        """The chosen goal, unsaved, without invalid values."""
        data = self.cleaned_data
        return goal_of(
            data.get("goal_kind"),
            {name: data.get(f"goal_{name}") for name in ("criterion", *ASKED)},
        )
