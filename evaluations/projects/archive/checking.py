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
from pydantic import BaseModel, TypeAdapter
from pydantic import ValidationError as ShapeError

from annotations.models import CampaignState, GoalKind, ParticipantState
from evaluations.models import Judge
from evaluations.models.improving import OPEN_STATES, Change, EventKind
from evaluations.models.runs import ACTIVE_STATES, LEAST_GOAL_WIDTH, MOST_GOAL_WIDTH, ItemState
from evaluations.projects.archive.tables import NamedAnswer, Ref, Refs, Table
from geval.evaluators.base import EvaluatorError, SettingsError
from geval.evaluators.formula import CriterionFormula
from geval.evaluators.registry import make_evaluator
from geval.files.archive_shapes import ANSWER, FILE_SHAPES, SYSTEMS, Entries, LockDrawn
from geval.files.archive_values import (
    WrongValueError,
    decimal_value,
    flag_value,
    json_value,
    number_value,
    text_value,
    whole_value,
)
from geval.files.certificates import CertificateContent, first_problem
from geval.llm.addresses import ForbiddenAddressError, check_address
from geval.llm.run_parameters import RunParameters
from geval.statistics.locked_rule import LEAST_SHARE, MOST_LOOKS, MOST_SHARE
from geval.statistics.scales import problems_of_scale

Check = Callable[[Any], None]
YEARS = range(1970, 2200)
# Of a study: eleven years of a watch that asks every hour.
MOST_PARTS = 100_000
JUDGE_NUMBERS = frozenset(
    {"samples", "temperature", "concurrency", "max_tokens", "timeout_seconds", "min_coverage"}
)
# Of a site's own kinds of rows.
SHAPES: Mapping[tuple[str, str], TypeAdapter[Any]] = {
    **FILE_SHAPES,
    ("runs", "parameters"): TypeAdapter(RunParameters),
    ("certificates", "content"): TypeAdapter(CertificateContent),
    ("searches", "changes"): TypeAdapter(Entries[Change]),
}


def checks_of(table: Table) -> dict[str, Check]:
    """A check for each field of a table's rows, except references."""
    fields = {field.column: field for field in _model_of(table)._meta.concrete_fields}
    checks: dict[str, Check] = {}
    for column, of in table.columns.items():
        if isinstance(of, Refs):
            checks[of.field] = _systems
        elif not isinstance(of, Ref):
            name = of.field if isinstance(of, NamedAnswer) else of
            shape = ANSWER if isinstance(of, NamedAnswer) else SHAPES.get((table.name, name))
            checks[name] = _check_of(fields[column], shape)
    if any(isinstance(of, NamedAnswer) for of in table.columns.values()):
        checks["systems"] = _systems
    return checks


def check_row(table: Table, checks: Mapping[str, Check], row: Mapping[str, Any]) -> None:
    """Check each field of a row by `checks` of its table, then what involves several.

    Raises:
        WrongValueError: the record cannot be used as it is.
        KeyError: a field is missing.
    """
    for name, check in checks.items():
        _named(name, check, row[name])
    if check_record := _RECORDS.get(table.name):
        check_record(row)


def _model_of(table: Table) -> type[models.Model]:
    return next(
        model
        for model in apps.get_models(include_auto_created=True)
        if model._meta.db_table == table.target
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
            # As JSON, where a list may stand for a tuple, and nothing else is converted.
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


# A run stores its judge's settings at its start.
_JUDGE_CHECKS = {
    field.name: _check_of(field)
    for field in Judge._meta.concrete_fields
    if field.name in JUDGE_NUMBERS
}


# Records


def _criterion(row: Mapping[str, Any]) -> None:
    ends = (row["scale_min"], row["scale_max"], row["scale_step"])
    for name, problem in problems_of_scale(*ends, row["scale_labels"]).items():
        raise WrongValueError(f"{name}: {problem}")


def _endpoint(row: Mapping[str, Any]) -> None:
    try:
        # Private networks are checked when the endpoint is called.
        check_address(row["base_url"], allow_private=True)
    except (ForbiddenAddressError, ValueError) as error:
        raise WrongValueError(f"base_url: {error}") from None


def _judge(row: Mapping[str, Any]) -> None:
    try:
        make_evaluator(row["kind"], row["settings"])
    except EvaluatorError:
        pass  # the package with this kind may be installed only on the other site
    except SettingsError as error:
        raise WrongValueError(f"settings: {error}") from None


def _run(row: Mapping[str, Any]) -> None:
    # Nothing that an archive brings may start work, nor call an endpoint of its choice.
    if row["state"] in ACTIVE_STATES:
        raise WrongValueError(f"state is {row['state']!r}; runs of an archive are paused or over")
    for name in sorted(JUDGE_NUMBERS):
        value = row["parameters"].get(name)
        if value is not None:
            _named(name, _JUDGE_CHECKS[name], value)
    try:
        RunParameters.from_json(row["parameters"])
    except (TypeError, ValueError, ArithmeticError):
        raise WrongValueError("parameters: a price is not a number") from None


def _item(row: Mapping[str, Any]) -> None:
    if row["state"] in (ItemState.LEASED, ItemState.SENT):
        raise WrongValueError(f"state is {row['state']!r}; no worker of another site is at it")


def _campaign(row: Mapping[str, Any]) -> None:
    # Members are not in an archive, so nobody can answer it.
    if row["state"] == CampaignState.OPEN:
        raise WrongValueError("state is 'open'; campaigns of an archive are drafts or closed")


def _participant(row: Mapping[str, Any]) -> None:
    if row["state"] in (ParticipantState.CONSENTED, ParticipantState.ACTIVE):
        raise WrongValueError(f"state is {row['state']!r}; nobody works in a copy")


def _goal(row: Mapping[str, Any]) -> None:
    for name in _ASKED_BY_GOALS[row["kind"]]:
        if row[name] is None:
            raise WrongValueError(f"{name} is empty; a goal of this kind needs it")
    if row["reached_at"] is not None:
        for name in ("documents", "low", "high"):
            if row[name] is None:
                raise WrongValueError(f"{name} is empty; a goal that was reached needs it")
    width = row["width"]
    if width is not None and not LEAST_GOAL_WIDTH <= width <= MOST_GOAL_WIDTH:
        raise WrongValueError(f"width is not from {LEAST_GOAL_WIDTH:g} to {MOST_GOAL_WIDTH:g}")


# What says in an archive what each goal asks for; of a judge its version.
_ASKED_BY_GOALS = {
    GoalKind.WIDTH: ("width", "version"),
    GoalKind.JUDGES: ("version", "rival_version"),
    GoalKind.SYSTEMS: ("system_id", "other"),
}


def _lock(row: Mapping[str, Any]) -> None:
    if not LEAST_SHARE <= row["share"] <= MOST_SHARE:
        raise WrongValueError(f"share is not from {LEAST_SHARE:g} to {MOST_SHARE:g}")
    if not 1 <= row["looks_allowed"] <= MOST_LOOKS:
        raise WrongValueError(f"looks_allowed is not from 1 to {MOST_LOOKS}")


def _lock_event(row: Mapping[str, Any]) -> None:
    if row["kind"] == EventKind.DRAWN:
        _modelled("content", LockDrawn, row)


def _study_part(row: Mapping[str, Any]) -> None:
    if row["recorded_at"] is None:
        raise WrongValueError("recorded_at is empty; an archive has what was asked to its end")
    if not 1 <= row["number"] <= MOST_PARTS:
        raise WrongValueError(f"number is not from 1 to {MOST_PARTS:,}")


def _study_item(row: Mapping[str, Any]) -> None:
    if len(row["scores"]) > MOST_PARTS:
        raise WrongValueError(f"scores has more than {MOST_PARTS:,} entries")


def _search(row: Mapping[str, Any]) -> None:
    if row["state"] in OPEN_STATES:
        raise WrongValueError(f"state is {row['state']!r}; searches of an archive are over")


def _candidate(row: Mapping[str, Any]) -> None:
    if row["formula"]:
        _modelled("formula", CriterionFormula, row)


def _modelled(name: str, model: type[BaseModel], row: Mapping[str, Any]) -> None:
    _named(name, model.model_validate, row[name])


def _named(name: str, check: Callable[[Any], object], value: Any) -> None:
    try:
        check(value)
    except WrongValueError as error:
        raise WrongValueError(f"{name} {error}") from None
    except ShapeError as error:
        raise WrongValueError(f"{name}: {first_problem(error)}") from None


_RECORDS: dict[str, Callable[[Mapping[str, Any]], None]] = {
    "criteria": _criterion,
    "endpoints": _endpoint,
    "judges": _judge,
    "runs": _run,
    "items": _item,
    "campaigns": _campaign,
    "participants": _participant,
    "campaign_goals": _goal,
    "study_items": _study_item,
    "study_parts": _study_part,
    "locks": _lock,
    "lock_events": _lock_event,
    "searches": _search,
    "candidates": _candidate,
}
