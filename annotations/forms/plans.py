"""The form that plans a campaign before it is created."""

from decimal import Decimal
from typing import Any
from urllib.parse import urlencode

from django import forms

from annotations.models import CampaignGoal, GoalKind
from annotations.planning.drafts import (
    ASKED,
    ASKS,
    SAME,
    compared_with_itself,
    goal_choices,
    goal_of,
)
from evaluations.models import Project
from geval.statistics.goal_widths import LEAST_GOAL_WIDTH, MOST_GOAL_WIDTH

USUAL_WIDTH = 0.05
# Larger than any scale, and small enough to be squared.
MOST_DIFFERENCE = 1_000_000


def as_plan(goal: CampaignGoal) -> str:
    """Return the query string of the page that plans a campaign with the same goal."""
    kind = GoalKind(goal.kind)
    asked = {name: getattr(goal, name) for name in ("criterion", *ASKS[kind])}
    return urlencode(
        {"kind": kind} | {name: getattr(value, "pk", value) for name, value in asked.items()}
    )


class PlanForm(forms.Form):
    """The fields for planning each kind of goal."""

    criterion: forms.ModelChoiceField = forms.ModelChoiceField(None, empty_label=None)
    judge: forms.ModelChoiceField = forms.ModelChoiceField(None, required=False)
    rival: forms.ModelChoiceField = forms.ModelChoiceField(
        None, label="Other judge", required=False
    )
    system: forms.ModelChoiceField = forms.ModelChoiceField(None, required=False)
    other: forms.ModelChoiceField = forms.ModelChoiceField(
        None, label="Other system", required=False
    )
    width = forms.FloatField(
        label="Precision (±)",
        required=False,
        min_value=LEAST_GOAL_WIDTH,
        max_value=MOST_GOAL_WIDTH,
        help_text="Of the judge's rho. With 0.05, a rho of 0.50 lies between 0.45 and 0.55.",
    )
    difference = forms.FloatField(
        label="Smallest difference that matters",
        required=False,
        min_value=0.001,
        max_value=MOST_DIFFERENCE,
        help_text=(
            "Of two judges' rho, or of two systems' mean ratings; a smaller one takes more"
            " documents. Leave empty for the difference that the pilot found."
        ),
    )
    price = forms.DecimalField(
        label="Price of one rating",
        required=False,
        min_value=0,
        max_digits=12,
        decimal_places=4,
        help_text="In your currency; leave empty to plan without money.",
    )

    def __init__(self, data: Any, *, project: Project) -> None:
        choices = goal_choices(project)
        kind = data.get("kind")
        self.question = GoalKind(kind) if kind in GoalKind.values else GoalKind.WIDTH
        usual = {
            "criterion": choices["criterion"].first(),
            "judge": choices["judge"].first(),
            "width": USUAL_WIDTH,
        }
        super().__init__(data if "criterion" in data else None, initial=usual)
        for name, those in choices.items():
            self.fields[name].queryset = those  # type: ignore[attr-defined]
        for name in ASKED:
            if name in ASKS[self.question]:
                self.fields[name].required = True
            else:
                del self.fields[name]
        if self.question == GoalKind.WIDTH:
            del self.fields["difference"]

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if same := compared_with_itself(self.aim):
            self.add_error(same, SAME)
        return data

    @property
    def aim(self) -> CampaignGoal:
        """The goal to plan for, as an unsaved campaign goal."""
        goal = goal_of(self.question, self.cleaned_data)
        assert goal is not None
        return goal

    @property
    def difference_that_matters(self) -> float | None:
        difference: float | None = self.cleaned_data.get("difference")
        return difference

    @property
    def price_of_a_rating(self) -> Decimal | None:
        price: Decimal | None = self.cleaned_data["price"]
        return price
