"""Validate rows of an archive by the rules of the models' fields and of whole records."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping
from typing import Any

import orjson
from django.apps import apps
from django.core.exceptions import ValidationError
from django.db import models
from django.utils.dateparse import parse_datetime
from pydantic import TypeAdapter

from evaluations.models import Judge
from evaluations.projects.archive.rows import STORED
from geval.evaluators.base import EvaluatorError, SettingsError
from geval.evaluators.formula import CriterionFormula
from geval.evaluators.registry import make_evaluator
from geval.files.archive.errors import WrongValueError
from geval.files.archive.record_file import NamedAnswer, RecordFile, Ref, Refs
from geval.files.archive.shapes import ANSWER, SYSTEMS
from geval.files.archive.values import (
    check_field,
    decimal_value,
    flag_value,
    json_value,
    number_value,
    text_value,
    whole_value,
)

Check = Callable[[Any], None]
YEARS = range(1970, 2200)
JUDGE_NUMBERS = frozenset(
    {"samples", "temperature", "concurrency", "max_tokens", "timeout_seconds", "min_coverage"}
)


def check_of(file: RecordFile) -> Callable[[Mapping[str, Any]], None]:
    """Return a check of a file's records: each field except references, then rules that involve
    several fields. The check raises WrongValueError, or KeyError if a field is missing."""
    checks = _checks_of_fields(file)
    check_record = _RECORDS.get(file.name)

    def check(row: Mapping[str, Any]) -> None:
        for name, check_value in checks.items():
            check_field(name, check_value, row[name])
        file.check(row)
        if check_record:
            check_record(row)

    return check


def _checks_of_fields(file: RecordFile) -> dict[str, Check]:
    fields = {field.column: field for field in _model_of(file)._meta.concrete_fields}
    checks: dict[str, Check] = {}
    for column, of in file.columns.items():
        if isinstance(of, Refs):
            checks[of.field] = _systems
        elif isinstance(of, NamedAnswer):
            checks[of.field] = _check_of(fields[column], ANSWER)
        elif not isinstance(of, Ref):
            checks[of] = _check_of(fields[column], file.json.get(of))
    if file.answers:
        checks["systems"] = _systems
    return checks


def _model_of(file: RecordFile) -> type[models.Model]:
    return next(
        model
        for model in apps.get_models(include_auto_created=True)
        if model._meta.db_table == STORED[file.name].table
    )


def _check_of(field: models.Field[Any, Any], shape: TypeAdapter[Any] | None = None) -> Check:
    kind = next((check for types, check in _KINDS if isinstance(field, types)), lambda value: value)

    choices = {key for key, _label in field.flatchoices}

    def check(value: Any) -> None:
        if value is None:
            if not field.null:
                raise WrongValueError("is empty")
            return
        converted = kind(value)
        if shape:
            # Compared as JSON, where a list may represent a tuple and nothing else is converted.
            shape.validate_json(orjson.dumps(value), strict=True)
        if choices and converted not in choices and not (converted == "" and field.blank):
            raise WrongValueError(
                f"is {str(value)[:40]!r}, which is not one of {', '.join(map(str, choices))}"
            )
        try:
            field.run_validators(converted)
        except ValidationError as error:
            raise WrongValueError(" ".join(error.messages)) from None

    return check


def _systems(value: Any) -> None:
    SYSTEMS.validate_json(orjson.dumps(value), strict=True)
    if len(set(value)) != len(value):
        raise WrongValueError("names a system twice")


def _moment(value: Any) -> datetime.datetime:
    try:
        moment = parse_datetime(value) if isinstance(value, str) else None
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None or moment.year not in YEARS:
        raise WrongValueError(f"is not a date with a time zone ({str(value)[:40]})")
    return moment


_KINDS: tuple[tuple[Any, Callable[[Any], Any]], ...] = (
    (models.BooleanField, flag_value),
    (models.IntegerField, whole_value),
    (models.FloatField, number_value),
    (models.DecimalField, decimal_value),
    (models.DateTimeField, _moment),
    (models.JSONField, json_value),
    ((models.CharField, models.TextField), text_value),
)


# A run stores its judge's settings when it starts.
_JUDGE_CHECKS = {
    field.name: _check_of(field)
    for field in Judge._meta.concrete_fields
    if field.name in JUDGE_NUMBERS
}


# Checks of records that need to know the site


def _judge(row: Mapping[str, Any]) -> None:
    try:
        make_evaluator(row["kind"], row["settings"])
    except EvaluatorError:
        pass  # the package of this kind may be installed only on the other site
    except SettingsError as error:
        raise WrongValueError(f"settings: {error}") from None


def _run(row: Mapping[str, Any]) -> None:
    for name in sorted(JUDGE_NUMBERS):
        value = row["parameters"].get(name)
        if value is not None:
            check_field(name, _JUDGE_CHECKS[name], value)


def _candidate(row: Mapping[str, Any]) -> None:
    if row["formula"]:
        check_field("formula", CriterionFormula.model_validate, row["formula"])


_RECORDS: dict[str, Callable[[Mapping[str, Any]], None]] = {
    "judges": _judge,
    "runs": _run,
    "candidates": _candidate,
}
