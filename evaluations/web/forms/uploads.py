"""Forms for choosing files, and for describing their contents."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import UploadedFile
from django.forms.boundfield import BoundField

from evaluations.models import Upload, UploadFile
from geval.files.cells import (
    OUTPUT,
    OVERALL,
    CellColumn,
    base_of,
    cell_of,
    is_target_with_names,
    on_criterion,
)
from geval.files.mapping import GROUPS, TARGETS, cell_column
from geval.files.packed import stem_of
from geval.statistics.scales import parsed_scale, short
from geval.texts.program import command

CHOICES = [
    ("", "ignored"),
    *(
        (group, [(target, TARGETS[target]) for target in targets])
        for group, targets in GROUPS.items()
    ),
]


CELLS = ("ratings", "scores")


class TargetField(forms.ChoiceField):
    """The meaning of a column: one of the choices, or a choice that includes names."""

    def valid_value(self, value: str) -> bool:
        return super().valid_value(value) or is_target_with_names(value)


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
                    f"{file.name} is larger than {limit:,} MB; split the file, or use"
                    f" {command('load')}."
                )
        return cleaned


class UploadForm(forms.Form):
    """Some files, or pasted text."""

    files = MultipleFileField(  # type: ignore[assignment]  # a field's name, popped by the form's metaclass
        label="Files",
        required=False,
        help_text=(
            "Excel (.xlsx), OpenDocument (.ods), CSV, TSV, JSON, JSON Lines, Parquet or Arrow, and"
            " files of other tools; plain, gzip or zip. Choose one or several."
        ),
    )
    text = forms.CharField(
        label="Or paste rows",
        required=False,
        strip=False,
        widget=forms.Textarea({"rows": 5, "class": "code", "spellcheck": "false"}),
        help_text=(
            "Copy cells in your spreadsheet, with the row of column names, and paste them here; or"
            " paste CSV or JSON."
        ),
    )

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if not self.errors and not data.get("files") and not (data.get("text") or "").strip():
            raise ValidationError("Choose a file, or paste rows; there is nothing to check yet.")
        return data


def _optional(label: str, most: int, help_text: str) -> forms.CharField:
    return forms.CharField(label=label, required=False, max_length=most, help_text=help_text)


class LoadOptionsForm(forms.Form):
    """Defaults for columns that files may lack."""

    judge = _optional(
        "Judge's name",
        200,
        "For scores and replies without a judge column (predict_scores, all_responses).",
    )
    verdicts_by = _optional(
        "Judge of the preferences",
        200,
        "If the preferences are a judge's verdicts, its name. Empty: they are people's.",
    )
    annotator = _optional(
        "Annotator's name",
        200,
        "For ratings without an annotator column, with one column per criterion.",
    )
    criterion = _optional(
        "Criterion", 100, "For ratings and raw replies that name none, instead of overall."
    )
    version = _optional("Version", 100, "The version of the program that computed the scores.")
    source = _optional(
        "Source", 500, "Where the scores come from, for example a paper or a release."
    )
    rate = _optional(
        "What is rated of conversations",
        60,
        "reply (the last one of the assistant, if this is empty), session, or a role such as"
        " assistant: then each of its turns.",
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
    """Return initial options: the judge is named after the first file."""
    stem = stem_of(files[0]) or files[0]
    fields = {name: field.initial or "" for name, field in LoadOptionsForm.base_fields.items()}
    named = {"judge": stem[:200], "annotator": "annotator"}
    return fields | named | {"first_digit": False, "replace": False}


@dataclass(frozen=True)
class ColumnField:
    """A column of a file: its name, its contents, and the field for its meaning."""

    name: str
    values: Sequence[str]
    later: str
    field: BoundField
    criterion: BoundField | None = None
    rater: BoundField | None = None


class ColumnsForm(LoadOptionsForm):
    """The meanings of the columns of an upload's files, and defaults for missing columns."""

    def __init__(self, upload: Upload, files: Sequence[UploadFile], data: Any = None) -> None:
        super().__init__(data, initial=upload.about)
        for file in files:
            for number, column in enumerate(self._columns(file)):
                target = file.columns.get(column["name"], "")
                self.fields[self._key(file, number)] = TargetField(
                    choices=CHOICES,
                    required=False,
                    initial=base_of(target),
                    label=f"Content of {column['name']}",
                )
                if cell := cell_column(column["name"], target):
                    self._add_names(self._key(file, number), column["name"], cell)

    def _add_names(self, key: str, name: str, cell: CellColumn) -> None:
        """Add fields for the criterion and the rater of a column of ratings."""
        for part, what, given, empty in (
            ("criterion", "Criterion", cell.criterion, "as the column"),
            ("rater", "Judge" if cell.by_judge else "Rater", cell.rater, "as in the row"),
        ):
            widget = forms.TextInput(
                {"placeholder": empty, "aria-label": f"{what} of {name}", "size": 16}
            )
            self.fields[f"{key}-{part}"] = forms.CharField(
                required=False, max_length=100, initial=given, widget=widget, label=what
            )

    @staticmethod
    def is_in(data: Any) -> bool:
        """Return whether submitted data has this form: its defaults are always sent with it."""
        return "judge" in data

    @staticmethod
    def _columns(file: UploadFile) -> list[dict[str, Any]]:
        return [] if file.preview["structure"] else file.preview["columns"]

    @staticmethod
    def _key(file: UploadFile, number: int) -> str:
        return f"column-{file.pk}-{number}"

    def about(self) -> dict[str, Any]:
        given = {name: self.cleaned_data[name] for name in LoadOptionsForm.base_fields}
        # Without a name the previous one stays, so this is no error.
        return given | {name: given[name] or self.initial[name] for name in ("judge", "annotator")}

    def about_fields(self) -> Iterator[BoundField]:
        return (self[name] for name in LoadOptionsForm.base_fields)

    def columns_of(self, file: UploadFile) -> list[ColumnField]:
        """Return the columns of a file for display."""
        return [
            ColumnField(
                column["name"] or "(no name)",
                column["values"],
                column.get("later", ""),
                *self._fields_of(key),
            )
            for number, column in enumerate(self._columns(file))
            if (key := self._key(file, number))
        ]

    def _fields_of(self, key: str) -> list[BoundField]:
        keys = (key, f"{key}-criterion", f"{key}-rater")
        return [self[each] for each in keys if each in self.fields]

    def chosen(self, file: UploadFile) -> dict[str, str]:
        """Return the meanings of a file's columns in a valid form."""
        named = (
            (column["name"], self._key(file, number))
            for number, column in enumerate(self._columns(file))
        )
        chosen = {name: self._target(file, name, key) for name, key in named}
        hidden = {name: to for name, to in file.columns.items() if name not in chosen}
        columns = hidden | {name: target for name, target in chosen.items() if target}
        if "system_id" in columns.values():
            columns = {n: OUTPUT if base_of(to) == OUTPUT else to for n, to in columns.items()}
        criterion = self.cleaned_data["criterion"]
        if not criterion or "criterion" in columns.values():
            return columns
        return on_criterion(columns, criterion, among=("", OVERALL))

    def _target(self, file: UploadFile, name: str, key: str) -> str:
        target, before = self.cleaned_data[key], file.columns.get(name, "")
        if target == base_of(before) != before and f"{key}-rater" not in self.data:
            return str(before)  # its names are unchanged, because the form did not show them
        if target not in CELLS or f"{key}-rater" not in self.data:
            if target == "scores":
                return CellColumn(name, "", by_judge=True).target
            return str(target)
        criterion, rater = (self.cleaned_data.get(f"{key}-{p}", "") for p in ("criterion", "rater"))
        cell = cell_of(before)
        from_row = cell is not None and not cell.criterion
        if target == "ratings" == before and criterion in ("", name) and not rater:
            return "ratings"
        named = criterion or ("" if from_row else name)
        return CellColumn(named, rater, by_judge=target == "scores").target


class ScalesForm(forms.Form):
    """The scales to confirm: of new criteria, and of criteria whose ratings seem to be on another
    scale; prefilled with the guesses."""

    def __init__(self, upload: Upload, data: Any = None) -> None:
        super().__init__(data)
        contents = upload.contents or {}
        self.criteria = [
            criterion
            for criterion in contents.get("criteria", ())
            if criterion["is_new"] or criterion.get("off")
        ]
        for number, criterion in enumerate(self.criteria):
            ends = f"{short(criterion['lowest'])}-{short(criterion['highest'])}"
            step = "" if criterion["step"] == 1 else f" step {short(criterion['step'])}"
            self.fields[f"scale-{number}"] = forms.CharField(
                max_length=60,
                required=False,
                initial=ends + step,
                # They are sent with the columns, which the button for loading checks as well.
                widget=forms.TextInput(
                    {"size": 8, "aria-label": f"Scale of {criterion['name']}", "form": "columns"}
                ),
            )

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        for key in list(self.fields):
            try:
                if data.get(key):
                    parsed_scale(data[key])
            except ValueError as error:
                self.add_error(key, str(error).capitalize())
        return data

    def scales(self) -> dict[str, tuple[float, float, float]]:
        """Return the scales of a valid form by criterion; empty ones stay unchanged."""
        scales = {}
        for number, criterion in enumerate(self.criteria):
            if written := self.cleaned_data.get(f"scale-{number}"):
                scale = parsed_scale(written)
                scales[criterion["name"]] = (scale.lowest, scale.highest, scale.step)
        return scales

    def field_of(self, name: str) -> BoundField | None:
        names = [criterion["name"] for criterion in self.criteria]
        return self[f"scale-{names.index(name)}"] if name in names else None
