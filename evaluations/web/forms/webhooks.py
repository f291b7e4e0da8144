"""Form for a new webhook."""

from django import forms
from django.conf import settings

from evaluations.models import WebhookEvent
from geval.llm.addresses import ForbiddenAddressError, check_address


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
