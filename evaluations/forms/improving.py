"""Forms for locking documents and searching for changes of a judge."""

from django import forms

from evaluations.improving.locking import LOOKS, SHARE
from evaluations.models import Change
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


class SearchForm(forms.Form):
    changes = forms.MultipleChoiceField(
        label="What may change",
        choices=Change.choices,
        initial=Change.values,
        widget=forms.CheckboxSelectMultiple,
    )
