"""Forms for share links and snapshots of a report."""

from django import forms


class ShareForm(forms.Form):
    query = forms.CharField(required=False, max_length=4000, widget=forms.HiddenInput)
    days = forms.IntegerField(label="Valid for (days)", required=False, min_value=1, max_value=3650)
    with_texts = forms.BooleanField(required=False)


class SnapshotForm(forms.Form):
    query = forms.CharField(required=False, max_length=4000, widget=forms.HiddenInput)
    note = forms.CharField(required=False, max_length=300)
