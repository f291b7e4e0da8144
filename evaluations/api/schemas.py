"""What requests are made of: texts that a database can hold, everywhere."""

from typing import Any

from ninja import Schema
from pydantic import model_validator

from evaluations.corpus.rows import is_text


class In(Schema):
    """A request's body or query. Texts with NUL, or that are no Unicode, are refused with the
    field's name."""

    @model_validator(mode="before")
    @classmethod
    def _storable(cls, values: Any) -> Any:
        inner = getattr(values, "_obj", values)
        if isinstance(inner, dict):
            for name, value in inner.items():
                if not storable(value):
                    raise ValueError(
                        f"{name} holds a character that no database text can (NUL, or half of a"
                        " pair)"
                    )
        return values


def storable(value: Any) -> bool:
    """Whether every text in a JSON value can be stored."""
    if isinstance(value, str):
        return "\0" not in value and is_text(value)
    if isinstance(value, dict):
        return all(storable(name) and storable(inner) for name, inner in value.items())
    return not isinstance(value, list) or all(storable(inner) for inner in value)
