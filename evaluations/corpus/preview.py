"""Preview a file before it is loaded: its format, columns and their meaning, first rows."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import orjson

from evaluations.corpus.mapping import flattened, guess_columns, structure_of
from evaluations.corpus.packed import UNREADABLE, open_packed, reason_unreadable
from evaluations.corpus.parquet import max_decoded_size
from evaluations.corpus.records import Objects, Table, is_parquet, records_of
from evaluations.corpus.rows import FileErrors
from evaluations.texts import storable

ROWS = 50
SHOWN_ROWS = 3
SHOWN_CHARACTERS = 200
MOST_COLUMNS = 60
LARGE_BYTES = 10 * 2**20
LARGE_PARQUET_BYTES = 64 * 2**20
CUT_CHARACTERS = 2000
CUT_PARTS = 50


@dataclass(frozen=True)
class PreviewColumn:
    """A column with its values in the first rows, shortened if they are long."""

    name: str
    guess: str
    values: tuple[str, ...]


@dataclass(frozen=True)
class Preview:
    """A file's first rows. `structure` names its records if they are more than columns.

    `error` says why there is nothing to show. `is_large` if it unpacks to more than should be read
    while somebody waits, however small the file itself is.
    """

    format: str
    columns: tuple[PreviewColumn, ...] = ()
    structure: str = ""
    error: str = ""
    is_large: bool = False

    @property
    def guess(self) -> dict[str, str]:
        return {column.name: column.guess for column in self.columns if column.guess}


def preview_file(path: Path, name: str) -> Preview:
    """The first rows of a file, whatever it is; never an error."""
    preview = _preview(path, name)
    return preview if preview.error else replace(preview, is_large=_is_large(path))


def _is_large(path: Path) -> bool:
    try:
        with open_packed(path) as raw:
            if is_parquet(raw):
                return max_decoded_size(raw) > LARGE_PARQUET_BYTES
            return len(raw.read(LARGE_BYTES + 1)) > LARGE_BYTES
    except UNREADABLE:  # errors after the first rows are reported when all rows are read
        return False


def _preview(path: Path, name: str) -> Preview:
    errors = FileErrors(most=1)
    try:
        with open_packed(path) as raw:
            records = records_of(raw, name, errors)
            if isinstance(records, Table):
                lines = itertools.islice(records.lines, ROWS)
                rows: list[Mapping[str, Any]] = [
                    dict(zip(records.header, map(_cut, line), strict=True)) for _, line in lines
                ]
                return Preview(str(records.format), _columns(records.header, rows))
            if isinstance(records, Objects):
                found = [_cut(record) for _, record in itertools.islice(records.lines, ROWS)]
                if found:
                    return _of_objects(str(records.format), found)
    except UNREADABLE as error:
        return Preview("", error=reason_unreadable(error))
    return Preview("", error=str(errors.listed[0]) if errors.listed else "This file is empty.")


def _of_objects(format_: str, records: list[Mapping[str, Any]]) -> Preview:
    structure = structure_of(records[0])
    rows = records if structure else [flattened(record) for record in records]
    names = tuple(dict.fromkeys(name for row in rows for name in row))
    return Preview(format_, _columns(names, rows, known=bool(structure)), structure)


def _columns(
    names: Sequence[str], rows: Sequence[Mapping[str, Any]], *, known: bool = False
) -> tuple[PreviewColumn, ...]:
    guess = {} if known else guess_columns(names, rows)
    return tuple(
        PreviewColumn(
            storable(name),
            # A name that cannot be stored as it is could not be distinguished from others later.
            guess.get(name, "") if storable(name) == name else "",
            tuple(_shown(row.get(name)) for row in rows[:SHOWN_ROWS]),
        )
        for name in names[:MOST_COLUMNS]
    )


def _shown(value: Any) -> str:
    written = storable(
        value if isinstance(value, str) else "" if value is None else _as_json(value)
    )
    return written if len(written) <= SHOWN_CHARACTERS else f"{written[: SHOWN_CHARACTERS - 1]}…"


def _cut(value: Any) -> Any:
    """The part of a value that a preview needs: some rows together could have gigabytes of text."""
    if isinstance(value, str):
        return value[:CUT_CHARACTERS]
    if isinstance(value, list):
        return [_cut(part) for part in value[:CUT_PARTS]]
    if isinstance(value, dict):
        return {name[:CUT_CHARACTERS]: _cut(part) for name, part in value.items()}
    return value


def _as_json(value: Any) -> str:
    try:
        return orjson.dumps(value, default=str).decode()
    except orjson.JSONEncodeError:  # a lone surrogate, or a number with hundreds of digits
        return str(value)
