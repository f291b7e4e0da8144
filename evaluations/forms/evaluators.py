"""The form of a judge, made for its evaluator: who is asked, if anybody, and a field for each of its settings."""

import types
from typing import Any, Literal, Union, get_args, get_origin

from django import forms
from pydantic.fields import FieldInfo

from evaluations.evaluators.asking import AskingEvaluator
from evaluations.evaluators.base import Evaluator
from evaluations.forms.judges import AskingForm, TakesErrors
from evaluations.judging.judges import JudgeDraft
from evaluations.models import Judge, Project

PREFIX = "set_"
LONG_TEXTS = {"examples", "questions"}


class EvaluatorForm(TakesErrors):
    """Name and settings; for evaluators that ask an LLM the fields of `AskingForm` in between."""

    name = forms.CharField(max_length=200, help_text="The name shown in reports.")

    def __init__(self, *args: Any, project: Project, evaluator: type[Evaluator], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.evaluator = evaluator
        if issubclass(evaluator, AskingEvaluator):
            self.fields |= AskingForm.fields_for(evaluator, project)
        for name, info in evaluator.Settings.model_fields.items():
            self.fields[PREFIX + name] = field_for(name, info)

    @classmethod
    def of(cls, judge: Judge, evaluator: type[Evaluator]) -> "EvaluatorForm":
        """The form with a judge's settings."""
        initial = {PREFIX + name: value for name, value in judge.settings.items()}
        initial |= {name: getattr(judge, name) for name in ("name", *AskingForm.base_fields)}
        return cls(project=judge.project, evaluator=evaluator, initial=initial)

    def draft(self) -> JudgeDraft:
        """The judge that a valid form describes; settings left empty take their defaults."""
        data = dict(self.cleaned_data)
        given = {name: data.pop(PREFIX + name) for name in self.evaluator.Settings.model_fields}
        settings = {name: value for name, value in given.items() if value not in (None, "")}
        return JudgeDraft(**data, kind=self.evaluator.kind, settings=settings)

    def field_of(self, name: str) -> str | None:
        """Errors of a setting are shown at its field."""
        return super().field_of(name) or super().field_of(PREFIX + name)


def field_for(name: str, info: FieldInfo) -> forms.Field:
    """The form field of a setting."""
    kind = _without_none(info.annotation)
    common: dict[str, Any] = {
        "label": info.title or name.replace("_", " ").capitalize(),
        "help_text": info.description or "",
        "required": info.is_required(),
        "initial": None if info.is_required() else info.default,
    }
    if get_origin(kind) is Literal:
        return forms.ChoiceField(choices=[(value, str(value).replace("_", " ")) for value in get_args(kind)], **common)
    if kind is bool:
        return forms.BooleanField(**common | {"required": False})
    if kind in (int, float):
        limits = {"min_value": _limit(info, "ge"), "max_value": _limit(info, "le")}
        return (forms.IntegerField if kind is int else forms.FloatField)(**common | limits)
    widget = forms.Textarea(attrs={"rows": 4}) if name in LONG_TEXTS else forms.TextInput()
    return forms.CharField(widget=widget, max_length=20_000, **common)


def _without_none(annotation: Any) -> Any:
    """`int | None` is `int` that need not be given."""
    if get_origin(annotation) in (Union, types.UnionType):
        return next(part for part in get_args(annotation) if part is not type(None))
    return annotation


def _limit(info: FieldInfo, name: str) -> Any:
    return next((getattr(part, name) for part in info.metadata if getattr(part, name, None) is not None), None)
