"""Forms for locking documents and searching for changes of a judge."""

from typing import Any

from django import forms

from evaluations.improving.locking import LOOKS, SHARE
from evaluations.models import Change, Criterion, Judge, Project
from evaluations.models.improving import MOST_LOOKS


class LockForm(forms.Form):
    percent = forms.IntegerField(
        label="Share of the documents (%)",
        min_value=10,
        max_value=90,
        initial=round(100 * SHARE),
        help_text="More prove smaller gains; fewer leave more to learn from.",
    )
    looks = forms.IntegerField(
        label="Looks allowed",
        min_value=1,
        max_value=MOST_LOOKS,
        initial=LOOKS,
        help_text="Every look makes the intervals of all wider.",
    )

    @property
    def share(self) -> float:
        return float(self.cleaned_data["percent"]) / 100


class TargetForm(forms.Form):
    """The judge and the criterion that a search is about; hidden beside its choices."""

    judge = forms.ModelChoiceField(Judge.objects.none())
    criterion = forms.ModelChoiceField(Criterion.objects.none())

    def __init__(self, *args: Any, project: Project, **more: Any) -> None:
        super().__init__(*args, **more)
        for name, there in (("judge", project.judges), ("criterion", project.criteria)):
            self.fields[name].queryset = there.all()  # type: ignore[attr-defined]


class SearchForm(forms.Form):
    changes = forms.MultipleChoiceField(
        label="What may change",
        choices=Change.choices,
        initial=Change.values,
        widget=forms.CheckboxSelectMultiple,
    )
