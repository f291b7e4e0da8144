"""Base schema of requests: every field is read, and every text can be stored in the database."""

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import orjson
from django.http import HttpRequest
from ninja import Schema
from pydantic import ConfigDict, model_validator

from geval.files.rows import is_text
from geval.texts.near_names import unknown_field

# A body that is not read is looked through up to this length, in bytes.
MOST_LOOKED_AT = 2**20
View = TypeVar("View", bound=Callable[..., Any])
CHANGING = frozenset({"POST", "PUT", "PATCH"})


class UnknownFieldError(Exception):
    """A request's body has a field that is not read; the message names those that are."""


class In(Schema):
    """A request's body or query. Fields that are not read are refused, so that nobody believes them
    to count; texts with NUL or invalid Unicode as well, and values that are nested too deeply to
    look through."""

    model_config = ConfigDict(json_schema_extra={"additionalProperties": False})

    @model_validator(mode="before")
    @classmethod
    def _all_read(cls, values: Any) -> Any:
        inner = getattr(values, "_obj", values)
        if isinstance(inner, dict):
            refuse_unknown(inner, list(cls.model_fields))
        return values

    @model_validator(mode="before")
    @classmethod
    def _storable(cls, values: Any) -> Any:
        inner = getattr(values, "_obj", values)
        if isinstance(inner, dict):
            for name, value in inner.items():
                try:
                    is_storable = storable(value)
                except RecursionError:
                    raise ValueError(f"{name} is nested too deeply") from None
                if not is_storable:
                    raise ValueError(
                        f"{name} contains a character that cannot be stored (NUL or a lone "
                        "surrogate)"
                    )
        return values


def refuse_unknown(values: dict[str, Any], allowed: list[str]) -> None:
    """
    Raises:
        UnknownFieldError: a field is not among those that are read.
    """
    if unknown := [name for name in values if name not in allowed]:
        raise UnknownFieldError(unknown_field(unknown[0], allowed))


def reads_by_itself(view: View) -> View:
    """Mark an operation that reads the body of its requests itself, such as rows of a file."""
    view.reads_by_itself = True  # type: ignore[attr-defined]
    return view


def refuse_unread(view: View) -> View:
    """Have an operation that reads no body refuse one that has fields."""

    @functools.wraps(view)
    def checked(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        was_read = hasattr(request, "_body") or getattr(view, "reads_by_itself", False)
        if request.method in CHANGING and not was_read:
            refuse_unknown(_fields_of(request), [])
        return view(request, *args, **kwargs)

    return checked  # type: ignore[return-value]


def _fields_of(request: HttpRequest) -> dict[str, Any]:
    """The fields of a JSON object in a body; none of anything else."""
    length = request.META.get("CONTENT_LENGTH") or "0"
    if not length.isdigit() or not 0 < int(length) <= MOST_LOOKED_AT:
        return {}
    try:
        values = orjson.loads(request.body)
    except orjson.JSONDecodeError:
        return {}
    return values if isinstance(values, dict) else {}


def storable(value: Any) -> bool:
    """Whether every text in a JSON value can be stored."""
    if isinstance(value, str):
        return "\0" not in value and is_text(value)
    if isinstance(value, dict):
        return all(storable(name) and storable(inner) for name, inner in value.items())
    return not isinstance(value, list) or all(storable(inner) for inner in value)
