"""Forms about the cause of a gap between a judge and people."""

from typing import Any

from django import forms
from django.db.models import BigIntegerField

from evaluations.models import CandidateOutput, Criterion, GapCause, Judge, Project
from evaluations.models.causes import MOST_LETTERS


class GapsForm(forms.Form):
    """Selects gaps: a judge and a criterion of the project. `view` is the page to return to."""

    judge = forms.ModelChoiceField(Judge.objects.none())
    criterion = forms.ModelChoiceField(Criterion.objects.none())
    view = forms.CharField(required=False, max_length=4000)

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.project = project
        self.fields["judge"].queryset = project.judges.all()  # type: ignore[attr-defined]
        self.fields["criterion"].queryset = project.criteria.all()  # type: ignore[attr-defined]


class GapForm(GapsForm):
    """Selects the gap of an output; `then` is the output to open next."""

    output = forms.IntegerField(min_value=1, max_value=BigIntegerField.MAX_BIGINT)
    then = forms.IntegerField(required=False, min_value=0, max_value=BigIntegerField.MAX_BIGINT)

    def clean_output(self) -> CandidateOutput:
        outputs = CandidateOutput.objects.of_project(self.project)
        rows = outputs.filter(pk=self.cleaned_data["output"]).select_related("document", "system")
        output = rows.first()
        if output is None:
            raise forms.ValidationError("There is no such output in this project.")
        return output


class CauseForm(GapForm):
    """The cause of a gap: one of the buttons, or free text."""

    cause = forms.CharField(max_length=MOST_LETTERS, required=False)
    own = forms.CharField(max_length=MOST_LETTERS, required=False)
    note = forms.CharField(max_length=2000, required=False)

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        given = cleaned.get("cause") or cleaned.get("own") or ""
        cleaned["cause"] = " ".join(given.split())
        if not cleaned["cause"] and not self.errors:
            raise forms.ValidationError("Choose a cause, or enter your own.")
        return cleaned


class ExamplesForm(GapsForm):
    """Outputs that become examples of a judge: one, or all with a cause."""

    output = forms.IntegerField(required=False, min_value=1, max_value=BigIntegerField.MAX_BIGINT)
    cause = forms.CharField(max_length=MOST_LETTERS, required=False)

    def output_ids(self) -> list[int]:
        """Return the ids of the outputs; those of a cause belong to its judge and criterion."""
        about = self.cleaned_data
        if about["output"]:
            return [about["output"]]
        causes = GapCause.objects.of_project(self.project).filter(
            judge=about["judge"], criterion=about["criterion"], cause=about["cause"]
        )
        return list(causes.values_list("output", flat=True))
