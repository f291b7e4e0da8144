"""Forms for inviting people and giving them a role."""

from django import forms
from django.conf import settings
from django.contrib.auth.forms import UserCreationForm
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy

from evaluations.models import Role
from evaluations.models.members import INVITATION_DAYS, MOST_INVITATION_DAYS
from evaluations.people.mails import addresses_to_invite

# Far more than `MOST_INVITED` addresses take; the file is read into memory.
LARGEST_BYTES = 2**20


def _days() -> forms.IntegerField:
    return forms.IntegerField(
        label="Valid for (days)",
        min_value=1,
        max_value=MOST_INVITATION_DAYS,
        initial=INVITATION_DAYS,
    )


class InvitationForm(forms.Form):
    role = forms.ChoiceField(choices=Role.choices, initial=Role.ANNOTATOR)
    note = forms.CharField(
        label="For",
        max_length=200,
        required=False,
        help_text="A note for your own list; the person you invite does not see it.",
    )
    days = _days()


class MailedInvitationsForm(forms.Form):
    """Addresses, pasted or in a file, to each of which an invitation is mailed."""

    prefix = "mailed"
    addresses = forms.CharField(
        label="E-mail addresses",
        required=False,
        max_length=LARGEST_BYTES,
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text="Separated by commas, blanks or lines; names beside them are left out.",
    )
    file = forms.FileField(label="Or a CSV file with addresses", required=False)
    role = forms.ChoiceField(choices=Role.choices, initial=Role.ANNOTATOR)
    language = forms.ChoiceField(
        label="Language of the mail", choices=settings.LANGUAGES, initial="en"
    )
    days = _days()

    def clean(self) -> dict[str, object]:
        data = super().clean() or {}
        text = str(data.get("addresses") or "")
        if file := data.get("file"):
            if file.size > LARGEST_BYTES:
                raise ValidationError("The file is larger than 1 MB; split it.")
            text += "\n" + file.read().decode("utf-8-sig", "replace")
        return {**data, "addresses": addresses_to_invite(text)}


class JoinForm(UserCreationForm):
    """A new account; its address is optional."""

    email = forms.EmailField(
        label=gettext_lazy("E-mail address"),
        required=False,
        help_text=gettext_lazy(
            "May be left out. It is for mails about your work, and for a new password."
        ),
    )

    class Meta:
        model = User
        fields = ("username", "email")


class MailSettingsForm(forms.Form):
    email = JoinForm.base_fields["email"]
    mails_work = forms.BooleanField(label=gettext_lazy("There is work for me"), required=False)
    mails_deadline = forms.BooleanField(
        label=gettext_lazy("A campaign ends in two days"), required=False
    )
    mails_digest = forms.BooleanField(label=gettext_lazy("A weekly summary"), required=False)


class RoleForm(forms.Form):
    role = forms.ChoiceField(choices=Role.choices)
