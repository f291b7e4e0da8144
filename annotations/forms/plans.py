"""The form that plans a campaign before it is created, and the fields of a campaign's goal."""

from typing import Any
from urllib.parse import urlencode

from django import forms
from django.core.exceptions import ValidationError

from annotations.goals.plans import PlanRequest, plan_fields, plan_request
from annotations.models import Campaign, CampaignGoal, GoalKind
from annotations.planning.drafts import ASKED, ASKS, goal_fields, goal_of
from evaluations.models import Project
from evaluations.web.field_groups import show_for_choices
from geval.measuring.plans import USUAL_WIDTH

LABELS = {
    "rival": "Other judge",
    "other": "Other system",
    "width": "Precision (±)",
    "difference": "Smallest difference that matters",
    "price": "Price of one rating",
}
HELP = {
    "width": "Of the judge's rho, or of its share of equal verdicts on pass or fail. With 0.05, a"
    " rho of 0.50 lies between 0.45 and 0.55.",
    "difference": (
        "Of two judges' rho, or of two systems' mean ratings; a smaller one takes more"
        " documents. Leave empty for the difference that the pilot found."
    ),
    "price": "In your currency; leave empty to plan without money.",
}
GOAL_FIELDS = tuple(f"goal_{name}" for name in ("kind", "criterion", *ASKED))
# The label and the help text of each field of a goal.
GOAL_LABELS = {
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
            field.label, field.help_text = GOAL_LABELS[name]
            self.fields[f"goal_{name}"] = field
        show_for_choices(self, "goal_kind", asks)
        goal = CampaignGoal.objects.filter(campaign=campaign.pk).first() if campaign.pk else None
        if goal is not None:
            for name in GOAL_FIELDS:
                self.initial[name] = getattr(goal, name.removeprefix("goal_"))

    @property
    def goal(self) -> CampaignGoal | None:
        """The chosen goal, unsaved, without invalid values."""
        data = self.cleaned_data
        return goal_of(
            data.get("goal_kind"),
            {name: data.get(f"goal_{name}") for name in ("criterion", *ASKED)},
        )
