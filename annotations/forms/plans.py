"""The form that plans a campaign before it is created."""

from typing import Any
from urllib.parse import urlencode

from django import forms
from django.core.exceptions import ValidationError

from annotations.goals.plans import PlanRequest, plan_fields, plan_request
from annotations.models import CampaignGoal, GoalKind
from annotations.planning.drafts import ASKS
from evaluations.models import Project
from geval.measuring.planning import USUAL_WIDTH

LABELS = {
    "rival": "Other judge",
    "other": "Other system",
    "width": "Precision (±)",
    "difference": "Smallest difference that matters",
    "price": "Price of one rating",
}
HELP = {
    "width": "Of the judge's rho. With 0.05, a rho of 0.50 lies between 0.45 and 0.55.",
    "difference": (
        "Of two judges' rho, or of two systems' mean ratings; a smaller one takes more"
        " documents. Leave empty for the difference that the pilot found."
    ),
    "price": "In your currency; leave empty to plan without money.",
}


def as_plan(goal: CampaignGoal) -> str:
    """Return the query string of the page that plans a campaign with the same goal."""
    kind = GoalKind(goal.kind)
    asked = {name: getattr(goal, name) for name in ("criterion", *ASKS[kind])}
    return urlencode(
        {"kind": kind} | {name: getattr(value, "pk", value) for name, value in asked.items()}
    )


class PlanForm(forms.Form):
    """The fields for planning each kind of goal; a valid form has `asked` and its goal, `aim`."""

    asked: PlanRequest

    def __init__(self, data: Any, *, project: Project) -> None:
        self.project = project
        kind = data.get("kind")
        self.question = GoalKind(kind) if kind in GoalKind.values else GoalKind.WIDTH
        fields: dict[str, Any] = plan_fields(self.question, project)
        fields["criterion"].empty_label = None
        usual = {
            name: fields[name].queryset.first() for name in ("criterion", "judge") if name in fields
        }
        super().__init__(
            data if "criterion" in data else None, initial=usual | {"width": USUAL_WIDTH}
        )
        for name, field in fields.items():
            field.label, field.help_text = LABELS.get(name), HELP.get(name, "")
            self.fields[name] = field

    def _clean_fields(self) -> None:
        """Validate as the API does."""
        try:
            self.asked = plan_request(
                self.question, {name: self[name].data for name in self.fields}, self.project
            )
            self.aim = self.asked.aim
        except ValidationError as error:
            self.add_error(None, error)
