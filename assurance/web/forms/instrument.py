"""The form that starts a study of a judge."""

from typing import Any

from django import forms

from assurance.instrument.studies import USUAL
from evaluations.models import Criterion, Project, StudyKind
from evaluations.models.instrument import MOST_HOURS, MOST_REPLIES
from geval.statistics.thresholds import STUDY_MOST_OUTPUTS, STUDY_OUTPUTS

_REPLIES = {
    StudyKind.DRIFT: ("Scores to freeze of each", "More find drift sooner."),
    StudyKind.AGAIN: ("Replies to each", "Three or more; five are usual."),
}


class StudyForm(forms.Form):
    """What to ask about, how often, and for how much; fields depend on the kind of study."""

    criterion = forms.ModelChoiceField(Criterion.objects.none(), empty_label=None)
    items = forms.IntegerField(
        label="Outputs",
        min_value=STUDY_OUTPUTS,
        max_value=STUDY_MOST_OUTPUTS,
        help_text="Spread over documents; those that people rated come first.",
    )
    replies = forms.IntegerField(min_value=1, max_value=MOST_REPLIES)
    every_hours = forms.IntegerField(
        label="Hours between two askings", min_value=1, max_value=MOST_HOURS, initial=24
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
        if self.kind != StudyKind.DRIFT:
            del self.fields["every_hours"]
        if self.kind not in _REPLIES:
            del self.fields["replies"]
        else:
            field = self.fields["replies"]
            field.label, field.help_text = _REPLIES[self.kind]
