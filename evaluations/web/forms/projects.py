"""Forms for projects: creation, texts, limits, systems, sharing, webhooks, and API tokens."""

from typing import Any

from django import forms
from django.conf import settings

from evaluations.models import Judge, Project, ProjectLimits, System, WebhookEvent
from evaluations.models.tokens import TOKEN_DAYS
from evaluations.projects.deletion import confirm
from evaluations.web.revisions import EditForm
from geval.llm.addresses import ForbiddenAddressError, check_address


class ArchiveForm(forms.Form):
    file = forms.FileField(
        label="Archive", help_text="A zip file of a project, downloaded from this or another site."
    )


class FormatsForm(EditForm, forms.ModelForm):
    """How the project's texts are shown, and their language."""

    class Meta:
        model = Project
        fields = (
            "source_format",
            "output_format",
            "reference_format",
            "code_language",
            "text_language",
        )
        labels = {
            "source_format": "Sources",
            "output_format": "Outputs",
            "reference_format": "References",
            "code_language": "Language of code",
            "text_language": "Language of the texts",
        }


class ProjectForm(forms.ModelForm):
    class Meta:
        model = Project
        fields = ("name", "description")
        widgets = {"description": forms.Textarea(attrs={"rows": 3})}


class DeletionForm(forms.Form):
    """The project's name, typed to prevent deletion by mistake."""

    name = forms.CharField(
        max_length=200,
        label="Name of the project",
        help_text="Type it to confirm.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.project = project

    def clean_name(self) -> str:
        return confirm(self.project, self.cleaned_data["name"])


class LimitsForm(EditForm, forms.ModelForm):
    """A project's own limits. Empty fields use the site's limits; 0 means no limit."""

    class Meta:
        model = ProjectLimits
        fields = ("storage_mb", "runs", "money_per_month", "invitations")


class ShareForm(forms.Form):
    query = forms.CharField(required=False, max_length=4000, widget=forms.HiddenInput)
    days = forms.IntegerField(label="Valid for (days)", required=False, min_value=1, max_value=3650)
    with_texts = forms.BooleanField(required=False)


class SnapshotForm(forms.Form):
    query = forms.CharField(required=False, max_length=4000, widget=forms.HiddenInput)
    note = forms.CharField(required=False, max_length=300)


SystemFormSet = forms.modelformset_factory(System, fields=("kind", "family"), extra=0)
JudgeFormSet = forms.modelformset_factory(Judge, fields=("family",), extra=0)


class WebhookForm(forms.Form):
    url = forms.URLField(
        label="URL",
        max_length=500,
        assume_scheme="https",
        help_text="The address at which your server accepts a POST of JSON.",
    )
    events = forms.MultipleChoiceField(
        label="Events",
        choices=[
            (value, label) for value, label in WebhookEvent.choices if value != WebhookEvent.TEST
        ],
        widget=forms.CheckboxSelectMultiple,
        initial=[WebhookEvent.RUN_FINISHED],
    )

    def clean_url(self) -> str:
        url: str = self.cleaned_data["url"]
        try:
            check_address(url, allow_private=settings.ALLOW_PRIVATE_ENDPOINTS)
        except ForbiddenAddressError as error:
            raise forms.ValidationError(str(error)) from None
        return url


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
    days = forms.TypedChoiceField(
        label="Expires",
        coerce=int,
        choices=[(30, "in 30 days"), (90, "in 90 days"), (365, "in a year"), (0, "never")],
        initial=TOKEN_DAYS,
        help_text="It also ends when you change your password.",
    )

    def __init__(self, *args: Any, user: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["project"].queryset = Project.objects.seen_by(user)  # type: ignore[attr-defined]
