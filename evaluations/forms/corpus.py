"""Uploading files."""

from typing import Any

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import UploadedFile

from evaluations.corpus.store import About


class MultipleFileInput(forms.ClearableFileInput):
    allow_multiple_selected = True


class MultipleFileField(forms.FileField):
    """One field, several files; each must not be larger than the upload limit."""

    widget = MultipleFileInput

    def clean(self, data: Any, initial: Any = None) -> list[UploadedFile]:
        files = data if isinstance(data, list | tuple) else [data]
        cleaned = [super(MultipleFileField, self).clean(file, initial) for file in files]
        for file in cleaned:
            if file.size > settings.UPLOAD_LIMIT_BYTES:
                limit = settings.UPLOAD_LIMIT_BYTES // 2**20
                raise ValidationError(f"{file.name} is larger than {limit} MB; split it, or use manage.py load.")
        return cleaned


class UploadForm(forms.Form):
    files = MultipleFileField(  # type: ignore[assignment]  # a field's name, popped by the form's metaclass
        label="Files",
        help_text="JSONL or CSV of outputs, CSV of ratings or scores, JSON of a release; plain or gzip.",
    )
    judge = forms.CharField(
        label="Judge's name",
        required=False,
        max_length=200,
        help_text="For scores that come without one (predict_scores). Left empty, the file's name is taken.",
    )
    criterion = forms.CharField(
        required=False, max_length=100, help_text="For raw replies (all_responses) that do not say what they rate."
    )
    version = forms.CharField(
        label="Version", required=False, max_length=100, help_text="Of the program that computed the scores."
    )
    source = forms.CharField(
        label="Source", required=False, max_length=500, help_text="Where the scores come from: a paper, a release."
    )
    first_digit = forms.BooleanField(
        label="Read raw replies by their first digit",
        required=False,
        help_text="As published releases do; otherwise our parser reads them, and 2.5 is 2.5.",
    )

    def about(self) -> About:
        """What a valid form says beside its files."""
        data = dict(self.cleaned_data)
        files = data.pop("files")
        return About(**data | {"judge": data["judge"] or files[0].name.removesuffix(".gz").rsplit(".", 1)[0]})
