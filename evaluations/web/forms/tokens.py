"""Forms for tokens of the HTTP API."""

from typing import Any

from django import forms

from evaluations.models import Project


class TokenForm(forms.Form):
    name = forms.CharField(
        max_length=100, help_text="What the token is for, for example “notebook”."
    )
    project = forms.ModelChoiceField(
        queryset=Project.objects.none(),
        required=False,
        empty_label="all my projects",
        help_text="Which projects the token gives access to.",
    )
    may_change = forms.BooleanField(
        label="Allow changes",
        required=False,
        help_text="Otherwise the token can only read, whatever your role is.",
    )

    def __init__(self, *args: Any, user: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["project"].queryset = Project.objects.seen_by(user)  # type: ignore[attr-defined]
