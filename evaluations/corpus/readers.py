"""Convert a file's records to rows, by their columns; errors are collected with their place.

Known: outputs, ratings (a column `annotator`), scores (a column `judge`), preferences (a column
`winner`), raw replies (`all_responses`), and the objects of the G-Eval and UniEval releases
(`system_output`).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from evaluations.corpus.conventions import conventional
from evaluations.corpus.fields import Place
from evaluations.corpus.mapping import Columns, flattened, renamed, renamed_header
from evaluations.corpus.output_records import output_rows, release_rows, replies_rows
from evaluations.corpus.packed import UNREADABLE, Counter, open_packed, reason_unreadable
from evaluations.corpus.preference_rows import (
    is_preference,
    is_preference_map,
    preferences_of_map,
    read_preference,
)
from evaluations.corpus.records import Format, Objects, Table, records_of
from evaluations.corpus.rows import EXPECTED, FileDefaults, FileErrors, Row
from evaluations.corpus.score_records import (
    SCORE_COLUMNS,
    is_wide,
    score_reader,
    score_rows,
    wide_rows,
)
from evaluations.corpus.unused import WatchedRecord, holds_something

OUTPUT_COLUMNS = ("doc_id", "system_id", "source", "output")


@dataclass(frozen=True)
class InputFile:
    """A file to load, and the name to call it by in messages.

    `columns` says what its columns are, unless their names say it; `counter` counts the bytes read.
    """

    path: Path
    name: str
    columns: Columns = field(default_factory=dict)
    counter: Counter | None = None


def read_rows(file: InputFile, errors: FileErrors, *, defaults: FileDefaults) -> Iterator[Row]:
    """All rows of a file; unreadable ones are added to `errors` and left out.

    Args:
        defaults: used if the file does not say whose `predict_scores` or replies it contains, and
            on which criterion.
    """
    try:
        with open_packed(file.path, file.counter) as raw:
            records = records_of(raw, file.name, errors)
            if isinstance(records, Objects):
                yield from _object_rows(records, file, errors, defaults)
            elif records is not None:
                yield from _table_rows(records, file, errors, defaults)
    except UNREADABLE as error:
        errors.add(file.name, 0, "", reason_unreadable(error))


def _object_rows(
    records: Objects, file: InputFile, errors: FileErrors, defaults: FileDefaults
) -> Iterator[Row]:
    for line, found in records.lines:
        plain = renamed(found, file.columns) if file.columns else found
        place = Place(file.name, line, errors)
        if records.format == Format.OBJECT and not is_preference_map(plain):
            place.error("", f"one object that spans several lines; {EXPECTED}")
            continue
        if is_preference_map(plain):
            yield from preferences_of_map(plain, line, file.name, errors)
            continue
        record = WatchedRecord(plain)
        if is_preference(record):
            yield from read_preference(record, line, file.name, errors)
        elif "all_responses" in record:
            yield from replies_rows(record, place, defaults)
        elif "score" in record and "output" not in record:
            yield from score_rows(record, place)
        elif "system_output" in record:
            yield from release_rows(record, place, defaults)
        else:
            yield from _output_or_wide(record, place, defaults)
        if file.columns:
            _note_unmapped(flattened(found), file, errors)
        _note_unread(record, file, errors)


def _note_unread(record: WatchedRecord, file: InputFile, errors: FileErrors) -> None:
    """Count the fields that no reader used."""
    for name in record.unread():
        errors.unused.add(file.name, name)


def _note_unmapped(record: Mapping[str, Any], file: InputFile, errors: FileErrors) -> None:
    """Count the columns that were said to be nothing."""
    for name, value in record.items():
        if name not in file.columns and holds_something(value):
            errors.unused.add(file.name, name)


def _output_or_wide(record: WatchedRecord, place: Place, defaults: FileDefaults) -> Iterator[Row]:
    if is_wide(record) and "output" not in conventional(record.record, system="x"):
        yield from wide_rows(record, place, defaults)
    else:
        yield from output_rows(record, place, defaults)


def _table_rows(
    table: Table, file: InputFile, errors: FileErrors, defaults: FileDefaults
) -> Iterator[Row]:
    header = renamed_header(table.header, file.columns) if file.columns else table.header
    if is_preference(header):
        for line, values in table.lines:
            record = WatchedRecord(dict(zip(header, values, strict=True)))
            yield from read_preference(record, line, file.name, errors)
            _note_unread_of_table(record, header, table.header, file, errors)
        return
    rater = next((column for column in ("annotator", "judge") if column in header), None)
    if rater and "score" in header:
        rater_columns: tuple[str, ...] = (*SCORE_COLUMNS, rater)
    elif rater and not is_wide(header) and "output" not in header:
        rater_columns = (*SCORE_COLUMNS, rater)
    else:
        rater_columns = ()
    missing = [column for column in rater_columns or _wanted(header) if column not in header]
    if missing:
        found = ", ".join(table.header[:12])
        errors.add(
            file.name,
            table.header_line,
            ", ".join(missing),
            f"missing in the header ({found}); {EXPECTED}",
        )
    elif rater_columns and rater:
        read = score_reader(header, rater, file.name, errors)
        unused = [
            (index, table.header[index])
            for index, name in enumerate(header)
            if name not in rater_columns
        ]
        for line, values in table.lines:
            yield from read(values, line)
            for index, name in unused:
                if values[index].strip():
                    errors.unused.add(file.name, name)
    else:
        for line, values in table.lines:
            place = Place(file.name, line, errors)
            record = WatchedRecord(_with_references(dict(zip(header, values, strict=True)), place))
            if place.sound:
                yield from _output_or_wide(record, place, defaults)
                _note_unread_of_table(record, header, table.header, file, errors)


def _note_unread_of_table(
    record: WatchedRecord,
    header: Sequence[str],
    written: Sequence[str],
    file: InputFile,
    errors: FileErrors,
) -> None:
    """Count unused columns by the names that they have in the file."""
    for name in record.unread():
        errors.unused.add(file.name, written[header.index(name)])


def _wanted(header: tuple[str, ...]) -> tuple[str, ...]:
    """The columns that a table without a rater's column needs; none if they have another tool's
    names."""
    known = conventional(dict.fromkeys(header, "x"), system="x")
    if "source" in known and "output" in known:
        return ()
    return ("doc_id", "system_id") if is_wide(header) else OUTPUT_COLUMNS


def _with_references(record: dict[str, Any], place: Place) -> dict[str, Any]:
    """A table's record; several references are written in one field as a JSON list."""
    references = record.get("references", "").strip()
    if references.startswith("["):
        try:
            record["references"] = orjson.loads(references)
        except orjson.JSONDecodeError as error:
            place.error("references", f"begins with [ but is not a JSON list ({error})")
    return record
