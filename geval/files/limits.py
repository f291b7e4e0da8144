"""Limits of a file, because a few kilobytes can unpack to gigabytes: bytes, rows, columns, depth.

A site sets its own with `use_limits`; two are settings, which messages name and the library reads
from the environment.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

MEGABYTE = 2**20


@dataclass(frozen=True)
class FileLimits:
    """Limits of files: sizes in bytes, `json_bytes` for one JSON value, `reading_seconds` of
    processor time and `reading_bytes` of memory for a separate process, and `folder` for such a
    process's temporary files; the system's if it is empty."""

    unpacked_bytes: int = 4000 * MEGABYTE
    field_bytes: int = 20 * MEGABYTE
    json_bytes: int = 500 * MEGABYTE
    json_depth: int = 50
    columns: int = 1000
    rows: int = 10_000_000
    reading_bytes: int = 256 * MEGABYTE
    reading_seconds: int = 900
    folder: str = ""


def limits_of(whole: Callable[[str, int], int], folder: str = "") -> FileLimits:
    """Return the limits with a site's own; `whole` returns a setting by its name and default."""
    return FileLimits(
        unpacked_bytes=whole("GEVAL_UNPACKED_LIMIT_MB", 4000) * MEGABYTE,
        rows=whole("GEVAL_ROW_LIMIT", 10_000_000),
        folder=folder,
    )


def _of_environment(setting: str, default: int) -> int:
    """Return a setting where there is no site; anything but a whole number counts as not set."""
    text = os.environ.get(setting, "")
    is_whole = text.isascii() and text.isdecimal() and len(text) < 10
    return int(text) or default if is_whole else default


_limits_now: Callable[[], FileLimits] = cache(partial(limits_of, _of_environment))


def use_limits(limits_now: Callable[[], FileLimits]) -> None:
    """Set the limits for reading files; `limits_now` is called each time."""
    global _limits_now  # noqa: PLW0603 (one process reads files for one site)
    _limits_now = limits_now


def file_limits() -> FileLimits:
    """Return the current limits."""
    return _limits_now()


def too_many_columns(count: int) -> str:
    """Return why a file with this many columns is refused; empty if it is not."""
    most = file_limits().columns
    if count <= most:
        return ""
    return f"has {count:,} columns; the limit is {most:,}; leave out those you do not need"


def too_many_fields(record: Mapping[str, Any]) -> str:
    """Do the same for an object, whose nested objects also become columns."""
    inner = [value for value in record.values() if isinstance(value, dict)]
    # Preferences by annotator have a field for each comparison; these do not become columns.
    columns = 0 if len(inner) == len(record) else max(map(len, inner), default=0)
    return too_many_columns(max(len(record), columns))


def is_too_deep(value: Any) -> bool:
    """Return whether lists and objects are nested more deeply than is allowed."""
    most = file_limits().json_depth
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
    """Return whether objects have more than `most` names in total, at all depths."""
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
    """Return the error message for JSON that is nested too deeply."""
    return f"the JSON is nested too deeply; the limit is {file_limits().json_depth} levels"
