"""Decode JSON as programs write it, in files of one value or of several. Pure.

Beyond JSON: NaN is nothing (pandas writes missing cells so), Infinity a number that no reader
accepts, and half of an emoji a replacement character. What was replaced is noted.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import orjson

from geval.files.column_aliases import KNOWN_NAMES
from geval.files.fields import UNSTORABLE
from geval.files.rows import is_text
from geval.texts.spelling import storable_value

# orjson takes twelve times a text's length: 50 MB here.
FAST_CHARACTERS = 2**22
NOT_A_NUMBER = "NaN (no value)"
Note = Callable[[str], None]

# What follows each name of an object; in texts as well, so that their number says too much.
_NAME_END = re.compile(r'"\s*:')
_HALF = re.compile(r"\\u[dD][89a-fA-F]")
_BETWEEN = re.compile(r"[\s,]*")
# Columns by which a table that was written column by column is recognised.
_KNOWN = KNOWN_NAMES | {"winner", "score"}


def decoded(text: str, note: Note) -> Any:
    """Return the value of a JSON text.

    Args:
        note: called with what was replaced.

    Raises:
        ValueError: it is not JSON. RecursionError: it is nested too deeply.
    """
    if len(text) <= FAST_CHARACTERS:
        try:
            value = orjson.loads(text)
            if _names_in(value) == len(_NAME_END.findall(text)):
                return value
        except ValueError:
            pass
    value = json.loads(text, parse_constant=_constant(note), object_pairs_hook=_object)
    return _storable(value, text, note)


class Repeating(dict[str, Any]):
    """An object in which a name, here or within, has two different values; the last is kept."""

    name = ""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    names = [name for name, value in pairs if record[name] != value]
    for value in record.values():
        parts = value if isinstance(value, list) else [value]
        names += [part.name for part in parts if isinstance(part, Repeating)]
    if names:
        record = Repeating(record)
        record.name = names[0]
    return record


def _names_in(value: Any) -> int:
    """Return how many names the objects in a value have."""
    if isinstance(value, dict):
        return len(value) + sum(map(_names_in, value.values()))
    return sum(map(_names_in, value)) if isinstance(value, list) else 0


def decoded_values(text: str, note: Note) -> Iterator[tuple[int, Any]]:
    """Yield the values in a text that has several, one after another, with their lines from 1.

    Raises:
        ValueError: one of them is not JSON. RecursionError: one is nested too deeply.
    """
    decoder = json.JSONDecoder(parse_constant=_constant(note), object_pairs_hook=_object)
    place, line = 0, 1
    while True:
        gap = _BETWEEN.match(text, place)
        start = gap.end() if gap else place
        line += text.count("\n", place, start)
        if start == len(text):
            return
        value, end = decoder.raw_decode(text, start)
        yield line, _storable(value, text[start:end], note)
        line += text.count("\n", start, end)
        place = end


def _constant(note: Note) -> Callable[[str], float | None]:
    def constant(name: str) -> float | None:
        if name != "NaN":
            return float(name)
        note(NOT_A_NUMBER)
        return None

    return constant


def _storable(value: Any, text: str, note: Note) -> Any:
    """Return a value without halves of characters. Bytes that are not UTF-8 stay, so that the error
    can name their place."""
    if not _HALF.search(text) or not is_text(text):
        return value
    whole = storable_value(value)
    if whole != value:
        note(UNSTORABLE)
    return whole


def rows_of_columns(record: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """Return the rows of a table that was written as one object, as pandas' `to_json` does (with
    any `orient` that has names) and programs that write a list for each column; None for any other
    object."""
    if not isinstance(next(iter(record.values()), None), dict | list):
        return None
    names, rows = record.get("columns"), record.get("data")
    if isinstance(rows, list) and isinstance(names, list) and record.keys() <= _SPLIT:
        are_rows = all(isinstance(row, list) and len(row) == len(names) for row in rows)
        return [dict(zip(names, row, strict=True)) for row in rows] if are_rows else None
    if isinstance(rows, list) and record.keys() == {"schema", "data"}:
        return rows
    columns = list(record.values())
    if len(columns) > 1 and not _KNOWN.isdisjoint(record) and _are_columns(columns):
        return [
            dict(zip(record, row, strict=True)) for row in zip(*map(_cells, columns), strict=True)
        ]
    if columns and all(isinstance(row, dict) for row in columns):
        are_alike = all(row.keys() == columns[0].keys() for row in columns)
        return columns if are_alike and not _KNOWN.isdisjoint(columns[0]) else None
    return None


_SPLIT = {"columns", "index", "data", "index_names", "column_names"}


def _are_columns(columns: list[Any]) -> bool:
    """Return whether values are columns of one table: lists of one length, or objects with the same
    names, of plain values."""
    first = columns[0]
    return bool(first) and all(
        isinstance(column, type(first))
        and len(column) == len(first)
        and (isinstance(column, list) or column.keys() == first.keys())
        and not any(isinstance(cell, dict) for cell in _cells(column))
        for column in columns
    )


def _cells(column: Any) -> Iterable[Any]:
    return column.values() if isinstance(column, dict) else column
