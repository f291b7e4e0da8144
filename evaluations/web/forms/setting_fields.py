"""Form fields made from declared settings: an evaluator's own, and those of every judge that
asks."""

import types
from decimal import Decimal
from typing import Any, Literal, Union, get_args, get_origin

from django import forms
from pydantic.fields import FieldInfo

from geval.evaluators.base import new_default
from geval.llm.judge_settings import limit_of

LONG_TEXTS = {"examples", "follow_ups", "instruction", "questions", "template"}


def field_for(name: str, info: FieldInfo) -> forms.Field:
    """The form field of a setting."""
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
    return forms.CharField(widget=widget, max_length=20_000, **common)


def _without_none(annotation: Any) -> Any:
    """`int | None` is `int` that need not be given."""
    if get_origin(annotation) in (Union, types.UnionType):
        return next(part for part in get_args(annotation) if part is not type(None))
    return annotation
