"""Forms for starting and resuming runs."""

from typing import Any

from django import forms
from django.http import QueryDict

from evaluations.models import Criterion, Judge, Project, Transport
from evaluations.models.runs import LEAST_GOAL_WIDTH, MOST_GOAL_WIDTH
from evaluations.runs.pilot import USUAL_DOCUMENTS

ALL, PILOT = "all", "pilot"


class RunForm(forms.Form):
    judge = forms.ModelChoiceField(queryset=Judge.objects.none(), empty_label=None)
    criteria = forms.ModelMultipleChoiceField(
        queryset=Criterion.objects.none(),
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose at least one criterion."},
    )
    outputs = forms.ChoiceField(
        label="Documents",
        choices=[
            (ALL, "All"),
            (PILOT, f"Pilot on {USUAL_DOCUMENTS} documents, drawn at random, rated ones first"),
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

    goal_width = forms.FloatField(
        label="End when rho is known within, plus and minus",
        required=False,
        min_value=LEAST_GOAL_WIDTH,
        max_value=MOST_GOAL_WIDTH,
        help_text=(
            "On each chosen criterion, by the interval that is valid at any time, which is wider"
            " than the report's; 0.05 is usual. Needs human ratings. Leave empty to judge"
            " everything."
        ),
    )

    goal_rival: forms.ModelChoiceField = forms.ModelChoiceField(
        None,
        label="End when it is known which is better, this judge or",
        required=False,
        empty_label="(no other judge)",
        help_text=(
            "By rho with people on each chosen criterion, over outputs that both judged, at any"
            " time. In place of a width."
        ),
    )

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        criteria = project.criteria.all()
        self.fields["goal_rival"].queryset = project.judges.filter(  # type: ignore[attr-defined]
            retired_at=None
        )
        judges = project.judges.that_run()
        self.fields["judge"].queryset = judges  # type: ignore[attr-defined]
        # Without a link that names one, most often the one that was just created.
        self.fields["judge"].initial = judges.last()
        self.fields["criteria"].queryset = criteria  # type: ignore[attr-defined]
        self.fields["criteria"].initial = [criterion.pk for criterion in criteria]

    def clean_transport(self) -> str:
        return self.cleaned_data["transport"] or Transport.LIVE

    @property
    def pilot(self) -> int:
        """On how many documents only, as a valid form says; 0 for all."""
        return USUAL_DOCUMENTS if self.cleaned_data["outputs"] == PILOT else 0


def wanted_run(project: Project, query: QueryDict) -> dict[str, Any]:
    """What a link to the form fills in: a judge, criteria, and whether it is a pilot."""
    wanted: dict[str, Any] = {}
    if query.get("judge") in {str(judge.pk) for judge in project.judges.that_run()}:
        wanted["judge"] = query["judge"]
    known = {str(criterion.pk) for criterion in project.criteria.all()}
    if named := [pk for pk in query.getlist("criterion") if pk in known]:
        wanted["criteria"] = named
    if query.get("outputs") == PILOT:
        wanted["outputs"] = PILOT
    return wanted


class ResumeForm(forms.Form):
    failed = forms.BooleanField(required=False)
    reason = forms.CharField(max_length=50, required=False)
    budget = forms.DecimalField(min_value=0, max_digits=14, decimal_places=4, required=False)


class RestForm(forms.Form):
    budget = forms.DecimalField(min_value=0, max_digits=14, decimal_places=4, required=False)
