"""The form that has a judge checked for a certificate."""

from typing import Any

from django import forms

from assurance.certifying.certificates import read_requirements
from evaluations.models import Criterion, Project
from evaluations.web.field_groups import FieldGroup, field_groups
from geval.reports.options import EPSILON_FOR, HUMAN_SCORES, MEAN
from geval.reports.requirements import Requirement, RequirementError

FOLDED = (("Requirements", ("requirements", "epsilon", "human_score")),)
USUAL = "spearman.summary.low>=0.45\nalt_test.passed"


class CertificateForm(forms.Form):
    """A criterion, requirements line by line, and the tolerance of the annotator test."""

    criterion = forms.ModelChoiceField(Criterion.objects.none(), empty_label=None)
    requirements = forms.CharField(
        max_length=4000,
        initial=USUAL,
        widget=forms.Textarea({"rows": 4, "class": "code", "spellcheck": "false"}),
        help_text="One per line: a figure, a relation and a number, or a claim.",
    )
    epsilon = forms.ChoiceField(
        choices=[(value, f"{value}, for {people}") for value, people in EPSILON_FOR.items()],
        label="Epsilon of the annotator test",
        initial=next(iter(EPSILON_FOR)),
    )

    human_score = forms.ChoiceField(
        choices=[(score, name) for score, (name, _said) in HUMAN_SCORES.items()],
        label="Human score",
        initial=MEAN,
        required=False,
    )

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["criterion"].queryset = project.criteria.all()  # type: ignore[attr-defined]

    def groups(self) -> list[FieldGroup]:
        """Return the criterion, and the fields that usually keep their defaults."""
        return field_groups(self, ("criterion",), FOLDED)

    def clean_human_score(self) -> str:
        return self.cleaned_data["human_score"] or MEAN

    def clean_requirements(self) -> list[Requirement]:
        try:
            return read_requirements(self.cleaned_data["requirements"].splitlines())
        except RequirementError as error:
            raise forms.ValidationError(str(error)) from None
