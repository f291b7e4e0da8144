"""Forms for inviting people and giving them a role."""

from django import forms

from evaluations.models import Role


class InvitationForm(forms.Form):
    role = forms.ChoiceField(choices=Role.choices, initial=Role.ANNOTATOR)
    note = forms.CharField(
        label="For",
        max_length=200,
        required=False,
        help_text="A note for your own list; the person you invite does not see it.",
    )
    days = forms.IntegerField(label="Valid for (days)", min_value=1, max_value=90, initial=14)


class RoleForm(forms.Form):
    role = forms.ChoiceField(choices=Role.choices)
