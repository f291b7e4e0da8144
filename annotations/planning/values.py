"""Validate what a page or the API sends."""

from collections.abc import Callable
from typing import Any

from django.core.exceptions import ValidationError

Errors = dict[str, list[str]]


def checked(errors: Errors, at: str, value: Any, *checks: Callable[[Any], Any]) -> Any:
    """Return a value as its checks return it; None if one refuses it, with the texts added to the
    errors of its field."""
    try:
        for check in checks:
            value = check(value)
    except ValidationError as error:
        errors.setdefault(at, []).extend(error.messages)
        return None
    return value
