"""The form that starts a study of a judge."""

from typing import Any

from django import forms

from assurance.instrument.studies import USUAL
from evaluations.models import Criterion, Project, StudyKind
from evaluations.models.instrument import MOST_REPLIES
from geval.statistics.thresholds import STUDY_MOST_OUTPUTS, STUDY_OUTPUTS


class StudyForm(forms.Form):
    """What to ask about, how often, and for how much; fields depend on the kind of study."""

    criterion = forms.ModelChoiceField(Criterion.objects.none(), empty_label=None)
    items = forms.IntegerField(
        label="Outputs",
        min_value=STUDY_OUTPUTS,
        max_value=STUDY_MOST_OUTPUTS,
        help_text="Spread over documents; those that people rated come first.",
    )
    replies = forms.IntegerField(
        label="Replies to each",
        min_value=1,
        max_value=MOST_REPLIES,
        help_text="Three or more; five are usual.",
    )
    budget = forms.DecimalField(
        required=False,
        min_value=0,
        max_digits=14,
        decimal_places=4,
        label="Budget of each run (optional)",
        help_text="In the currency of the judge's prices.",
    )

    def __init__(self, *args: Any, project: Project, kind: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.kind = StudyKind(kind)
        self.fields["criterion"].queryset = project.criteria.all()  # type: ignore[attr-defined]
        items, replies = USUAL[self.kind]
        self.fields["items"].initial, self.fields["replies"].initial = items, replies
        if self.kind != StudyKind.AGAIN:
            del self.fields["replies"]
