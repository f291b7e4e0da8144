"""Limit how wide a file may be: columns of a table, fields of an object, in every format."""

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
