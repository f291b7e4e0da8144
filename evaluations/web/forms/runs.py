"""Forms for starting and resuming runs."""

from typing import Any

from django import forms
from django.http import QueryDict

from evaluations.judging.runs.layout import USUAL_PILOT_DOCUMENTS
from evaluations.models import Criterion, Judge, Project, Transport
from evaluations.models.criteria import with_items_of
from evaluations.models.goals import LACKING, GoalKind
from evaluations.web.field_groups import show_for_choices
from geval.statistics.goal_widths import LEAST_GOAL_WIDTH, MOST_GOAL_WIDTH

ALL, PILOT = "all", "pilot"
# The field of each goal that a run can have; the judge is its own.
GOALS = {GoalKind.WIDTH: "goal_width", GoalKind.JUDGES: "goal_rival"}


class RunForm(forms.Form):
    judge = forms.ModelChoiceField(
        queryset=Judge.objects.none(),
        empty_label=None,
        error_messages={"required": "Choose a judge."},
    )
    criteria = forms.ModelMultipleChoiceField(
        queryset=Criterion.objects.none(),
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose at least one criterion."},
    )
    outputs = forms.ChoiceField(
        label="Documents",
        choices=[
            (ALL, "All"),
            (
                PILOT,
                f"Pilot on {USUAL_PILOT_DOCUMENTS} documents, drawn at random, rated ones first",
            ),
        ],
        widget=forms.RadioSelect,
        initial=ALL,
        required=False,
        help_text="After a pilot you can judge the rest with one button.",
    )
    fresh = forms.BooleanField(
        label="Judge everything again",
        required=False,
        help_text="Otherwise only missing scores are computed.",
    )
    transport = forms.ChoiceField(
        label="How to send", choices=Transport.choices, initial=Transport.LIVE, required=False
    )
    budget = forms.DecimalField(
        min_value=0,
        max_digits=14,
        decimal_places=4,
        required=False,
        help_text=(
            "The run pauses before it costs more. Needs a judge with prices. Leave empty for no"
            " limit."
        ),
    )

    goal_kind = forms.ChoiceField(
        label="End by itself when",
        required=False,
        choices=[
            ("", "Everything is judged"),
            *((kind.value, kind.label) for kind in GOALS),
        ],
        help_text=(
            "A goal needs human ratings. It applies to each chosen criterion and uses the"
            " interval that is valid at any time, which is wider than the report's."
        ),
    )
    goal_width = forms.FloatField(
        label="Precision (±)",
        required=False,
        min_value=LEAST_GOAL_WIDTH,
        max_value=MOST_GOAL_WIDTH,
        help_text=(
            "Of the judge's rho, or of the share of same verdicts on pass or fail; 0.05 is usual."
            " Not for two judges."
        ),
    )
    goal_rival: forms.ModelChoiceField = forms.ModelChoiceField(
        None,
        label="Other judge",
        required=False,
        help_text=(
            "Only for two judges: which one agrees better with people, over outputs that"
            " both judged."
        ),
    )

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        criteria = project.criteria.without_rubrics()
        show_for_choices(self, "goal_kind", {kind: [name] for kind, name in GOALS.items()})
        self.fields["goal_rival"].queryset = project.judges.filter(  # type: ignore[attr-defined]
            retired_at=None
        )
        judges = project.judges.that_run()
        self.fields["judge"].queryset = judges  # type: ignore[attr-defined]
        if len(judges) == 1:
            self.fields["judge"].initial = judges[0]
        elif not self.initial.get("judge"):
            # No link names one of several, so the person does.
            self.fields["judge"].empty_label = "Choose a judge"  # type: ignore[attr-defined]
        self.fields["criteria"].queryset = criteria  # type: ignore[attr-defined]
        self.fields["criteria"].initial = [criterion.pk for criterion in criteria]

    def clean_transport(self) -> str:
        return self.cleaned_data["transport"] or Transport.LIVE

    def clean(self) -> dict[str, Any]:
        """Keep the fields of the chosen goal; without a choice, use the goal that is filled in,
        because a browser without scripts shows all fields."""
        data = super().clean() or {}
        if kind := data.get("goal_kind"):
            asked = GOALS[kind]
            if data.get(asked) is None and asked not in self.errors:
                self.add_error(asked, LACKING)
            data |= {name: None for name in GOALS.values() if name != asked}
        return data

    @property
    def pilot(self) -> int:
        """The number of documents of a pilot in a valid form; 0 for all."""
        return USUAL_PILOT_DOCUMENTS if self.cleaned_data["outputs"] == PILOT else 0


def wanted_run(project: Project, query: QueryDict) -> dict[str, Any]:
    """Return the initial values from a link to the form: a judge, criteria, and whether it is a
    pilot."""
    wanted: dict[str, Any] = {}
    if query.get("judge") in {str(judge.pk) for judge in project.judges.that_run()}:
        wanted["judge"] = query["judge"]
    asked = query.getlist("criterion")
    if named := [each for each in project.criteria.all() if str(each.pk) in asked]:
        wanted["criteria"] = [criterion.pk for criterion in with_items_of(named)]
    if query.get("outputs") == PILOT:
        wanted["outputs"] = PILOT
    return wanted


class ResumeForm(forms.Form):
    failed = forms.BooleanField(required=False)
    reason = forms.CharField(max_length=50, required=False)
    budget = forms.DecimalField(min_value=0, max_digits=14, decimal_places=4, required=False)


class RestForm(forms.Form):
    budget = forms.DecimalField(min_value=0, max_digits=14, decimal_places=4, required=False)
