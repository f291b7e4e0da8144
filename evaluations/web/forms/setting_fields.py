"""Form fields made from declared settings: an evaluator's own, and those of every judge that asks
an LLM."""

import types
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Literal, Union, get_args, get_origin

from django import forms
from pydantic.fields import FieldInfo

from geval.evaluators.base import new_default
from geval.llm.judge_settings import limit_of
from geval.llm.request_options import options_text, read_options

LONGEST = 20_000
LONG_TEXTS = {"examples", "follow_ups", "instruction", "questions", "template"}


class OptionsField(forms.CharField):
    """Request options as JSON; empty for none."""

    def __init__(self, **options: Any) -> None:
        super().__init__(widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "false"}), **options)

    def prepare_value(self, value: Any) -> Any:
        """Return the options as edited text."""
        return options_text(value) if isinstance(value, dict) else value

    def to_python(self, value: Any) -> dict[str, Any]:  # type: ignore[override]
        """Parse the options.

        Raises:
            ValidationError: the options may not be sent.
        """
        try:
            return read_options(value)
        except ValueError as error:
            message = str(error)
            raise forms.ValidationError(f"{message[:1].upper()}{message[1:]}.") from None


def field_for(name: str, info: FieldInfo) -> forms.Field:
    """Return the form field of a setting."""
    kind = _without_none(info.annotation)
    common: dict[str, Any] = {
        "label": info.title or name.replace("_", " ").capitalize(),
        "help_text": info.description or "",
        "required": info.is_required(),
        "initial": None if info.is_required() else new_default(info),
    }
    if get_origin(kind) is Literal:
        return forms.ChoiceField(
            choices=[(value, str(value).replace("_", " ")) for value in get_args(kind)], **common
        )
    if kind == dict[str, Any]:
        return OptionsField(**common | {"initial": ""})
    if kind is bool:
        return forms.BooleanField(**common | {"required": False})
    if kind in (int, float):
        limits = {"min_value": limit_of(info, "ge"), "max_value": limit_of(info, "le")}
        return (forms.IntegerField if kind is int else forms.FloatField)(**common | limits)
    if kind is Decimal:
        digits = {
            name: next(getattr(part, name) for part in info.metadata if hasattr(part, name))
            for name in ("max_digits", "decimal_places")
        }
        return forms.DecimalField(min_value=limit_of(info, "ge"), **common | digits)
    widget = forms.Textarea(attrs={"rows": 4}) if name in LONG_TEXTS else forms.TextInput()
    longest = limit_of(info, "max_length") or LONGEST
    return forms.CharField(widget=widget, max_length=longest, **common)


def describe_fields(form: forms.BaseForm, declared: Mapping[str, FieldInfo]) -> None:
    """Give fields of a form the titles and help texts of declared settings, by name."""
    for name, info in declared.items():
        form.fields[name].label = info.title or form.fields[name].label
        form.fields[name].help_text = info.description or ""


def _without_none(annotation: Any) -> Any:
    """Return `int` for `int | None`, which is an optional setting."""
    if get_origin(annotation) in (Union, types.UnionType):
        return next(part for part in get_args(annotation) if part is not type(None))
    return annotation
