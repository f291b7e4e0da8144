"""The form that asks what a campaign is to find out, before there is one."""

from decimal import Decimal
from typing import Any

from django import forms

from annotations.models import CampaignGoal, GoalKind
from evaluations.forms.campaign_goals import ASKS
from evaluations.models import Project

USUAL_WIDTH = 0.05
# What some questions ask for, and others do not.
ASKED = {name.removeprefix("goal_") for names in ASKS.values() for name in names}


class PlanForm(forms.Form):
    """The fields that a kind of question asks for."""

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
        label="Width, plus and minus", required=False, min_value=0.01, max_value=0.5,
        help_text="Of a judge's rho.",
    )  # fmt: skip
    difference = forms.FloatField(
        label="Smallest difference that matters",
        required=False,
        min_value=0.001,
        help_text="Of two judges' rho, or of two systems' mean ratings. Empty: the pilot's own.",
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
        judges = project.judges.filter(retired_at=None)
        choices = {
            "criterion": project.criteria.all(),
            "judge": judges,
            "rival": judges,
            "system": project.systems.all(),
            "other": project.systems.all(),
        }
        kind = data.get("kind")
        self.question = GoalKind(kind) if kind in GoalKind.values else GoalKind.WIDTH
        usual = {
            "criterion": project.criteria.first(),
            "judge": judges.first(),
            "width": USUAL_WIDTH,
        }
        super().__init__(data if "criterion" in data else None, initial=usual)
        for name, those in choices.items():
            self.fields[name].queryset = those  # type: ignore[attr-defined]
        asked = {name.removeprefix("goal_") for name in ASKS[self.question]}
        for name in ASKED - asked:
            del self.fields[name]
        for name in asked:
            self.fields[name].required = True
        if self.question == GoalKind.WIDTH:
            del self.fields["difference"]

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        for one, two in (("judge", "rival"), ("system", "other")):
            if data.get(two) and data.get(one) == data.get(two):
                self.add_error(two, "Choose another one to compare with.")
        return data

    @property
    def aim(self) -> CampaignGoal:
        """What is asked, as a campaign's goal that is not saved."""
        data = self.cleaned_data
        asked = {name: data[name] for name in ASKED if name in data}
        return CampaignGoal(kind=self.question, criterion=data["criterion"], **asked)

    @property
    def difference_that_matters(self) -> float | None:
        found: float | None = self.cleaned_data.get("difference")
        return found

    @property
    def price_of_a_rating(self) -> Decimal | None:
        found: Decimal | None = self.cleaned_data["price"]
        return found
