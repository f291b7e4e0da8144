"""Base schema of requests: every text can be stored in the database."""

from typing import Any

from ninja import Schema
from pydantic import model_validator

from geval.files.rows import is_text


class In(Schema):
    """A request's body or query. Texts with NUL or invalid Unicode are refused, and values that are
    nested too deeply to look through."""

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


def storable(value: Any) -> bool:
    """Whether every text in a JSON value can be stored."""
    if isinstance(value, str):
        return "\0" not in value and is_text(value)
    if isinstance(value, dict):
        return all(storable(name) and storable(inner) for name, inner in value.items())
    return not isinstance(value, list) or all(storable(inner) for inner in value)
