"""Long forms in two parts: basics for everybody, and collapsed groups of settings with sensible
defaults; and fields that are shown only for some choices."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django import forms

from geval.texts.sentences import excerpt

# static/js/choices.js reads these attributes to decide for which choices a field is shown.
SHOWN_FOR = ("data-shown-by", "data-shown-for")
LONGEST_VALUE, MOST_VALUES = 32, 3
_WITHOUT_WORDS = (forms.FileField, forms.MultipleChoiceField, forms.ModelMultipleChoiceField)


@dataclass(frozen=True)
class FieldGroup:
    """Fields under a heading; without a title they are the form's basics.

    `summary` lists the values that are set, in a line. A group with an error, or with a value other
    than the default, is open.
    """

    title: str
    fields: tuple[forms.BoundField, ...]
    summary: str = ""
    is_open: bool = False


def field_groups(
    form: forms.BaseForm,
    basics: Iterable[str],
    folded: Iterable[tuple[str, Sequence[str]]],
    *,
    hidden: Iterable[str] = (),
) -> list[FieldGroup]:
    """Return the fields of a form, the basics first; fields not named anywhere belong to them."""
    folded = [(title, [name for name in names if name in form.fields]) for title, names in folded]
    elsewhere = {name for _title, names in folded for name in names} | set(hidden)
    first = [name for name in basics if name in form.fields and name not in elsewhere]
    rest = [name for name in form.fields if name not in first and name not in elsewhere]
    groups = [FieldGroup("", tuple(form[name] for name in (*first, *rest)))]
    for title, names in folded:
        fields = tuple(form[name] for name in names if name not in set(hidden))
        if fields:
            groups.append(
                FieldGroup(
                    title,
                    fields,
                    _summary(title, fields),
                    any(field.errors or _is_changed(form, field) for field in fields),
                )
            )
    return groups


def show_for_choices(form: forms.BaseForm, choice: str, asks: Mapping[str, Iterable[str]]) -> None:
    """Show fields only for the choices that need them; without scripts all fields are shown.

    Args:
        choice: the name of the field with the choices.
        asks: the names of the fields that each choice needs.
    """
    choices: dict[str, list[str]] = {}
    for value, names in asks.items():
        for name in names:
            choices.setdefault(name, []).append(value)
    for name, those in choices.items():
        attrs = dict(zip(SHOWN_FOR, (choice, " ".join(those)), strict=True))
        form.fields[name].widget.attrs.update(attrs)


def _summary(title: str, fields: Iterable[forms.BoundField]) -> str:
    """Return the values that are set, as "step 1, labels …"; names in the title are not
    repeated."""
    values = [text.removeprefix(f"{title.lower()} ") for text in map(_in_words, fields) if text]
    more = ["…"] if len(values) > MOST_VALUES else []
    return ", ".join([*values[:MOST_VALUES], *more])


def _in_words(field: forms.BoundField) -> str:
    """Return a field with its value; empty if nothing is set, or if it is not text."""
    value = field.value()
    label = f"{field.label[:1].lower()}{field.label[1:]}"
    if isinstance(field.field, forms.BooleanField):
        return label if value and value != "False" else ""
    if isinstance(field.field, _WITHOUT_WORDS) or not _plain(value):
        return ""
    choices = getattr(field.field, "choices", None)
    written = str(dict(choices).get(value, value) if choices else value)
    return f"{label} {excerpt(written, LONGEST_VALUE)}"


def _is_changed(form: forms.BaseForm, field: forms.BoundField) -> bool:
    return _plain(field.value()) != _plain(_default(form, field.name))


def _default(form: forms.BaseForm, name: str) -> Any:
    if isinstance(form, forms.ModelForm) and name in (form._meta.fields or ()):
        return form._meta.model._meta.get_field(name).get_default()
    return form.fields[name].initial


def _plain(value: Any) -> str:
    """Return a value as a page would send it back."""
    if value is None or value is False or value == "":  # `in` would treat 0 as False
        return ""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return f"{float(value):g}" if number else _as_number(str(value))


def _as_number(text: str) -> str:
    try:
        return f"{float(text):g}"
    except ValueError:
        return {"on": "True", "true": "True"}.get(text, text)
