"""Forms about people."""

from django import forms

_TYPED = {"autocomplete": "off"}


class LeavingForm(forms.Form):
    """The name of a person who leaves; typed again, it confirms what was shown for it."""

    name = forms.CharField(
        max_length=254,
        label="Name",
        help_text="Of the account or the annotator, an e-mail address, or the id of a panel.",
        widget=forms.TextInput(attrs=_TYPED),
    )
    confirm = forms.CharField(
        max_length=254,
        required=False,
        label="Name again, to remove for good",
        help_text="Leave empty to see what would be removed.",
        widget=forms.TextInput(attrs=_TYPED),
    )

    @property
    def is_dry_run(self) -> bool:
        return not self.cleaned_data["confirm"]

    def clean_confirm(self) -> str:
        confirm: str = self.cleaned_data["confirm"]
        if confirm and confirm != self.cleaned_data.get("name"):
            raise forms.ValidationError("This is another name. Nothing was removed.")
        return confirm
