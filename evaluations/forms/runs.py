"""Forms for starting and resuming runs."""

from typing import Any

from django import forms

from evaluations.models import Criterion, Judge, Project, Transport


class RunForm(forms.Form):
    judge = forms.ModelChoiceField(queryset=Judge.objects.none(), empty_label=None)
    criteria = forms.ModelMultipleChoiceField(
        queryset=Criterion.objects.none(),
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose at least one criterion."},
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

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        criteria = project.criteria.all()
        judges = project.judges.that_run()
        self.fields["judge"].queryset = judges  # type: ignore[attr-defined]
        self.fields["judge"].initial = judges.last()  # most often the one that was just created
        self.fields["criteria"].queryset = criteria  # type: ignore[attr-defined]
        self.fields["criteria"].initial = [criterion.pk for criterion in criteria]

    def clean_transport(self) -> str:
        return self.cleaned_data["transport"] or Transport.LIVE


class ResumeForm(forms.Form):
    failed = forms.BooleanField(required=False)
    reason = forms.CharField(max_length=50, required=False)
    budget = forms.DecimalField(min_value=0, max_digits=14, decimal_places=4, required=False)
