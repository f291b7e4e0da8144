"""The fields of a campaign's form that define its goal."""

from django import forms

from annotations.models import Campaign, CampaignGoal, GoalKind
from annotations.planning.drafts import ASKED, ASKS, goal_choices, goal_of
from evaluations.models import Project
from evaluations.web.field_groups import show_for_choices
from geval.statistics.goal_widths import LEAST_GOAL_WIDTH, MOST_GOAL_WIDTH

GOAL = tuple(f"goal_{name}" for name in ("kind", "criterion", *ASKED))


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
    goal_criterion: forms.ModelChoiceField = forms.ModelChoiceField(
        None, label="On the criterion", required=False
    )
    goal_width = forms.FloatField(
        label="Precision (±)",
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

    @property
    def goal(self) -> CampaignGoal | None:
        """The chosen goal, unsaved, without invalid values."""
        data = self.cleaned_data
        return goal_of(
            data.get("goal_kind"),
            {name: data.get(f"goal_{name}") for name in ("criterion", *ASKED)},
        )
