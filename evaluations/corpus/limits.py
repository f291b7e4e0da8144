"""Limit how wide a file may be, columns of a table or fields of an object, and how deeply JSON may
be nested."""

from collections.abc import Mapping
from typing import Any

from django.conf import settings


def too_many_columns(count: int) -> str:
    """Why a file with so many columns is not read, in words; empty if they are few enough."""
    if count <= settings.COLUMN_LIMIT:
        return ""
    return (
        f"has {count:,} columns; the limit is {settings.COLUMN_LIMIT:,} (GEVAL_COLUMN_LIMIT); "
        "leave out those you do not need"
    )


def too_many_fields(record: Mapping[str, Any]) -> str:
    """The same for an object, whose nested objects become columns as well."""
    inner = [value for value in record.values() if isinstance(value, dict)]
    # Preferences by annotator have a field for each comparison; these are not columns.
    columns = 0 if len(inner) == len(record) else max(map(len, inner), default=0)
    return too_many_columns(max(len(record), columns))


def is_too_deep(value: Any) -> bool:
    """Whether lists and objects are nested more deeply than JSON may be here."""
    most = settings.JSON_DEPTH
    depth, level = 0, [value]
    while depth <= most and (
        containers := [part for part in level if isinstance(part, dict | list)]
    ):
        level = [
            part
            for container in containers
            for part in (container.values() if isinstance(container, dict) else container)
        ]
        depth += 1
    return depth > most


def has_more_names(value: Any, most: int) -> bool:
    """Whether objects have more names than so many together, at all depths."""
    counted, waiting = 0, [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            counted += len(part)
            waiting += part.values()
        elif isinstance(part, list):
            waiting += part
        if counted > most:
            return True
    return False


def too_deep() -> str:
    """The same in words."""
    return (
        f"the JSON is nested too deeply; the limit is {settings.JSON_DEPTH} levels"
        " (GEVAL_JSON_DEPTH)"
    )
