"""Forms for choosing files, and for saying what is in them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import UploadedFile
from django.forms.boundfield import BoundField

from evaluations.corpus.mapping import GROUPS, TARGETS
from evaluations.corpus.packed import stem_of
from evaluations.models import SavedColumns, Upload, UploadFile

CHOICES = [
    ("", "ignored"),
    *(
        (group, [(target, TARGETS[target]) for target in targets])
        for group, targets in GROUPS.items()
    ),
]


class MultipleFileInput(forms.ClearableFileInput):
    allow_multiple_selected = True


class MultipleFileField(forms.FileField):
    """One field for several files; none may be larger than the upload limit."""

    widget = MultipleFileInput

    def clean(self, data: Any, initial: Any = None) -> list[UploadedFile]:
        files = data if isinstance(data, list | tuple) else [data]
        cleaned = [
            super(MultipleFileField, self).clean(file, initial)
            for file in files
            if file or self.required
        ]
        for file in cleaned:
            if file.size > settings.UPLOAD_LIMIT_BYTES:
                limit = settings.UPLOAD_LIMIT_BYTES // 2**20
                raise ValidationError(
                    f"{file.name} is larger than {limit:,} MB; split the file, or use manage.py"
                    " load."
                )
        return cleaned


class UploadForm(forms.Form):
    """Some files, or pasted text."""

    files = MultipleFileField(  # type: ignore[assignment]  # a field's name, popped by the form's metaclass
        label="Files",
        required=False,
        help_text=(
            "CSV, TSV, JSON, JSON Lines or Parquet; plain, gzip or zip. Choose one or several."
        ),
    )
    text = forms.CharField(
        label="Or paste rows",
        required=False,
        strip=False,
        widget=forms.Textarea({"rows": 5, "class": "code", "spellcheck": "false"}),
        help_text="A table copied from a spreadsheet, CSV, or JSON.",
    )

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if not self.errors and not data.get("files") and not (data.get("text") or "").strip():
            raise ValidationError("Choose a file, or paste rows; there is nothing to check yet.")
        return data


class LoadOptionsForm(forms.Form):
    """Defaults for columns that files may lack."""

    judge = forms.CharField(
        label="Judge's name",
        max_length=200,
        help_text="For scores and replies without a judge column (predict_scores, all_responses).",
    )
    verdicts_by = forms.CharField(
        label="Judge of the preferences",
        required=False,
        max_length=200,
        help_text="If the preferences are a judge's verdicts, its name. Empty: they are people's.",
    )
    annotator = forms.CharField(
        label="Annotator's name",
        max_length=200,
        help_text="For ratings without an annotator column, with one column per criterion.",
    )
    criterion = forms.CharField(
        required=False, max_length=100, help_text="For raw replies without a criterion column."
    )
    version = forms.CharField(
        label="Version",
        required=False,
        max_length=100,
        help_text="The version of the program that computed the scores.",
    )
    source = forms.CharField(
        label="Source",
        required=False,
        max_length=500,
        help_text="Where the scores come from, for example a paper or a release.",
    )
    first_digit = forms.BooleanField(
        label="Read the first digit of raw replies as the rating",
        required=False,
        help_text="As published releases do. Otherwise our parser reads them, and 2.5 is 2.5.",
    )
    replace = forms.BooleanField(
        label="Replace existing texts if they differ",
        required=False,
        help_text=(
            "Only where nothing depends on them: no rating, score, comparison, or item of a run or"
            " campaign."
        ),
    )


def initial_options(files: Sequence[str]) -> dict[str, Any]:
    """Initial options: the judge is named after the first file."""
    stem = stem_of(files[0]) or files[0]
    fields = {name: field.initial or "" for name, field in LoadOptionsForm.base_fields.items()}
    return fields | {
        "judge": stem[:200],
        "annotator": "annotator",
        "first_digit": False,
        "replace": False,
    }


@dataclass(frozen=True)
class ColumnField:
    """A column of a file: its name, what is in it, and the field that says what it is."""

    name: str
    values: Sequence[str]
    field: BoundField


class ColumnsForm(LoadOptionsForm):
    """What the columns of an upload's files are, and defaults for those that are missing."""

    def __init__(self, upload: Upload, files: Sequence[UploadFile], data: Any = None) -> None:
        super().__init__(data, initial=upload.about)
        for file in files:
            for number, column in enumerate(self._columns(file)):
                self.fields[self._key(file, number)] = forms.ChoiceField(
                    choices=CHOICES,
                    required=False,
                    initial=file.columns.get(column["name"], ""),
                    label=f"Content of {column['name']}",
                )

    @staticmethod
    def _columns(file: UploadFile) -> list[dict[str, Any]]:
        return [] if file.preview["structure"] else file.preview["columns"]

    @staticmethod
    def _key(file: UploadFile, number: int) -> str:
        return f"column-{file.pk}-{number}"

    def about(self) -> dict[str, Any]:
        return {name: self.cleaned_data[name] for name in LoadOptionsForm.base_fields}

    def about_fields(self) -> Iterator[BoundField]:
        return (self[name] for name in LoadOptionsForm.base_fields)

    def columns_of(self, file: UploadFile) -> list[ColumnField]:
        """The columns of a file, to show."""
        return [
            ColumnField(
                column["name"] or "(no name)", column["values"], self[self._key(file, number)]
            )
            for number, column in enumerate(self._columns(file))
        ]

    def chosen(self, file: UploadFile) -> dict[str, str]:
        """The meaning of a file's columns in a valid form."""
        named = (
            (column["name"], self._key(file, number))
            for number, column in enumerate(self._columns(file))
        )
        return {name: target for name, key in named if (target := self.cleaned_data[key])}


class SavedColumnsForm(forms.ModelForm):
    """A name under which to save a file's columns."""

    class Meta:
        model = SavedColumns
        fields = ("name",)
