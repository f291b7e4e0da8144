"""Convert a file's records to rows, by their columns; errors are collected with their place.

Recognised are outputs, ratings (a column `annotator`), scores (a column `judge`), preferences (a
column `winner`), raw replies (`all_responses`), and the objects of the G-Eval and UniEval releases
(`system_output`).
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

import orjson

from geval.files.cells import cell_of, judges_in, separated_in
from geval.files.column_aliases import conventional, is_ours
from geval.files.fields import Place, as_text
from geval.files.mapping import flattened, renamed, renamed_header
from geval.files.messages import turns_column
from geval.files.opening import open_packed
from geval.files.output_records import output_rows, release_rows, replies_rows
from geval.files.packed import UNREADABLE, Counter, reason_unreadable
from geval.files.preference_rows import (
    is_preference,
    is_preference_map,
    preferences_of_map,
    read_preference,
)
from geval.files.rater_names import is_mean
from geval.files.records import Objects, Table, records_of, with_added
from geval.files.rows import (
    EXPECTED,
    Columns,
    FileDefaults,
    FileErrors,
    JudgeScoreRow,
    NotApplicableRow,
    RatingRow,
    Row,
    ShareRow,
)
from geval.files.score_records import (
    BESIDE,
    COMMENT,
    SCORE_COLUMNS,
    is_wide,
    score_reader,
    score_rows,
    wide_rows,
)
from geval.files.tools import Tool, tool_of
from geval.files.tools.batches import REQUEST, is_request, is_result
from geval.files.tools.lacking import what_is_lacking
from geval.files.tools.parts import Reading
from geval.files.unused import WatchedRecord, holds_something
from geval.texts.spreadsheets import unguarded

# The names of columns are collected from this many records.
LOOKED_AT = 1000
OUTPUT_COLUMNS = ("doc_id", "system_id", "source", "output")


@dataclass(frozen=True)
class InputFile:
    """A file to load, and its name in messages.

    `columns` has the meanings of its columns, unless their names state them; `counter` counts the
    bytes read. `corrections` replace cells, by line and column; lines that are `left_out` are not
    read. `named` has the meanings of columns that readers recognise by name, for messages. `beside`
    are the other files of the load, which may contain data for its records. `sheet` is the sheet to
    read of a workbook, by default the first that looks like a table. `added` are columns that it
    lacks (`records.with_added`).
    """

    path: Path
    name: str
    columns: Columns = field(default_factory=dict)
    counter: Counter | None = None
    corrections: Mapping[int, Mapping[str, str]] = field(default_factory=dict)
    left_out: frozenset[int] = frozenset()
    named: Columns = field(default_factory=dict)
    beside: tuple[Path, ...] = ()
    sheet: str = ""
    added: Mapping[str, str] = field(default_factory=dict)


def read_rows(file: InputFile, errors: FileErrors, *, defaults: FileDefaults) -> Iterator[Row]:
    """Yield all rows of a file; unreadable ones are added to `errors` and left out.

    Args:
        defaults: used if the file does not say whose `predict_scores` or replies it contains, and
            on which criterion.
    """
    judges = judges_in(file.columns)
    defaults = replace(defaults, separate=separated_in(file.columns))
    errors.answers = defaults.answers
    try:
        with open_packed(file.path, file.counter) as raw:
            records = records_of(raw, file.name, errors, file.sheet)
            if file.added and records is not None:
                records = with_added(records, file.added)
            rows: Iterator[Row] = iter(())
            if isinstance(records, Objects):
                rows = _object_rows(edited_objects(records, file), file, errors, defaults)
            elif records is not None:
                rows = _table_rows(edited_table(records, file), file, errors, defaults)
            yield from _with_means(_with_scores_of(judges, rows) if judges else rows)
    except UNREADABLE as error:
        errors.add(file.name, 0, "", reason_unreadable(error))


def column_names(file: InputFile) -> frozenset[str]:
    """Return the columns of a table, or of the first records of another file: some lack a few."""
    with open_packed(file.path) as raw:
        records = records_of(raw, file.name, FileErrors(most=1), file.sheet)
        if isinstance(records, Table):
            return frozenset(records.header)
        first = islice(records.lines, LOOKED_AT) if records else ()
        return frozenset(name for _line, record in first for name in record)


def cells_at(file: InputFile, lines: frozenset[int]) -> dict[int, dict[str, str]]:
    """Return the cells of some lines, by their columns in the file, with corrections."""
    cells: dict[int, dict[str, str]] = {}
    errors = FileErrors(most=0)
    try:
        with open_packed(file.path) as raw:
            records = records_of(raw, file.name, errors, file.sheet)
            if isinstance(records, Table):
                table = edited_table(records, file)
                for line, values in table.lines:
                    if line in lines:
                        cells[line] = dict(zip(table.header, values, strict=True))
            elif records is not None:
                for line, record in edited_objects(records, file).lines:
                    if line in lines:
                        cells[line] = {
                            name: as_text(value) for name, value in flattened(record).items()
                        }
    except UNREADABLE:
        pass
    return cells


def edited_table(table: Table, file: InputFile) -> Table:
    """Return a table with corrected cells, without the lines that are left out."""
    if not file.corrections and not file.left_out:
        return table
    places = {name: index for index, name in enumerate(table.header)}

    def lines() -> Iterator[tuple[int, list[str]]]:
        for line, values in table.lines:
            for name, value in file.corrections.get(line, {}).items():
                if name in places:
                    values[places[name]] = value
            if line not in file.left_out:
                yield line, values

    return replace(table, lines=lines())


def edited_objects(objects: Objects, file: InputFile) -> Objects:
    """Do the same for a file of objects; `outer.inner` is a field of a nested object."""
    if not file.corrections and not file.left_out:
        return objects

    def lines() -> Iterator[tuple[int, Mapping[str, Any]]]:
        for line, record in objects.lines:
            if line not in file.left_out:
                yield line, _corrected(record, file.corrections.get(line, {}))

    return replace(objects, lines=lines())


def _corrected(record: Mapping[str, Any], cells: Mapping[str, str]) -> Mapping[str, Any]:
    corrected = dict(record)
    for name, value in cells.items():
        outer, _, inner = name.partition(".")
        if name not in corrected and isinstance(corrected.get(outer), dict):
            corrected[outer] = corrected[outer] | {inner: value}
        else:
            corrected[name] = value
    return corrected


def _with_scores_of(judges: Collection[str], rows: Iterator[Row]) -> Iterator[Row]:
    """Convert the ratings of these raters to scores of judges."""
    for row in rows:
        if isinstance(row, RatingRow) and row.rater in judges:
            yield JudgeScoreRow(
                row.line, row.doc_id, row.system_id, row.criterion, row.rater, row.score,
                row.column, row.source, row.session, row.word, row.group, row.repeat,
            )  # fmt: skip
        elif isinstance(row, NotApplicableRow) and row.rater in judges:
            yield replace(row, by_judge=True)
        else:
            yield row


def _with_means(rows: Iterator[Row]) -> Iterator[Row]:
    """Mark ratings whose rater a row names as a mean: as in columns of means, it is no person."""
    for row in rows:
        if isinstance(row, RatingRow) and is_mean(row.rater):
            cell = cell_of(row.column)
            yield replace(row, is_mean=row.is_mean or not (cell and cell.rater))
        else:
            yield row


def _object_rows(
    records: Objects, file: InputFile, errors: FileErrors, defaults: FileDefaults
) -> Iterator[Row]:
    requests = SiblingRequests(file.beside)
    for line, content in records.lines:
        plain = renamed(content, file.columns) if file.columns else content
        place = Place(file.name, line, errors)
        if not is_ours(plain):
            if tool := tool_of(plain):
                yield from _rows_of_tool(tool, requests.put_into(plain), place, defaults)
                continue
            if lack := what_is_lacking(plain):
                place.error("", lack)
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
            _note_unmapped(flattened(content), file, errors)
        _note_unread(record, file, errors)


def _rows_of_tool(
    tool: Tool, record: Mapping[str, Any], place: Place, defaults: FileDefaults
) -> Iterator[Row]:
    """Yield the rows of another tool's record; parts that its reader ignores are listed as
    unused."""
    reading = Reading(record, place, defaults.rows_of)
    for row in tool.read(reading.root):
        if not place.sound:
            return
        if "system_a" in row:
            yield from _choice_of_tool(row, place)
            continue
        if "score" in row:
            yield from score_rows(row, place)
            continue
        texts = {} if turns_column(row) else {"source": None, "output": None}
        columns = texts | {name: value for name, value in row.items() if value is not None}
        for name in ("doc_id", "system_id", "session_id", "group"):
            if columns.get(name) == "":
                del columns[name]
        ours = WatchedRecord({"system_id": defaults.system, **columns})
        yield from output_rows(ours, place, defaults)
        for name in ours.unread():
            place.errors.unused.add(place.file, name)
    for name in reading.unread():
        place.errors.unused.add(place.file, name)


def _choice_of_tool(row: Mapping[str, Any], place: Place) -> Iterator[Row]:
    """Yield a preference; a judge's `share` is the probability that the first output is better."""
    share = row.get("share")
    if share is None:
        yield from read_preference(row, place.line, place.file, place.errors)
        return
    value = 0 if share == 0.5 else 1 if share > 0.5 else -1
    yield ShareRow(
        place.line, row["doc_id"], row["system_a"], row["system_b"], "", row["judge"], value,
        by_judge=True, share=share, tie=float(share == 0.5),
    )  # fmt: skip


def _note_unread(record: WatchedRecord, file: InputFile, errors: FileErrors) -> None:
    """Count the fields that no reader used."""
    for name in record.unread():
        errors.unused.add(file.name, name)


def _note_unmapped(record: Mapping[str, Any], file: InputFile, errors: FileErrors) -> None:
    """Count non-empty columns that the user chose to ignore or that have no meaning."""
    for name, value in record.items():
        if name not in file.columns and holds_something(value):
            errors.unused.add(file.name, name)


def _output_or_wide(record: WatchedRecord, place: Place, defaults: FileDefaults) -> Iterator[Row]:
    plain = record.record  # a field called otherwise is an output as well, which takes longer
    has_output = plain.get("output") or (
        is_wide(record) and "output" in conventional(plain, system="x")
    )
    if not has_output and is_wide(record):
        yield from wide_rows(record, place, defaults)
    else:
        yield from output_rows(record, place, defaults)


def _table_rows(
    table: Table, file: InputFile, errors: FileErrors, defaults: FileDefaults
) -> Iterator[Row]:
    header = renamed_header(table.header, file.columns) if file.columns else table.header
    if is_preference(header):
        for line, values in table.lines:
            record = WatchedRecord(dict(zip(header, map(unguarded, values), strict=True)))
            yield from read_preference(record, line, file.name, errors)
            _note_unread_of_table(record, header, table.header, file, errors)
        return
    rater = next((column for column in ("annotator", "judge") if column in header), None)
    rater_columns: tuple[str, ...] = ()
    if rater and "output" not in header and ("score" in header or not is_wide(header)):
        rater_columns = (*SCORE_COLUMNS, rater)
    missing = [column for column in rater_columns or _wanted(header) if column not in header]
    if missing:
        columns = ", ".join(table.header[:12])
        errors.add(
            file.name,
            table.header_line,
            ", ".join(missing),
            f"missing in the header ({columns}); {EXPECTED}",
        )
    elif rater_columns and rater:
        read = score_reader(header, rater, file.name, errors)
        unused = [
            (index, table.header[index])
            for index, name in enumerate(header)
            if name not in (*rater_columns, *(BESIDE if rater == "annotator" else ()))
        ]
        comment = header.index(COMMENT) if COMMENT in header else None
        for line, values in table.lines:
            if comment is not None:
                values[comment] = unguarded(values[comment])
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
    """Return the columns that a table without a rater's column needs; none if they have another
    tool's names."""
    columns = conventional(dict.fromkeys(header, "x"), system="x")
    if "source" in columns and "output" in columns:
        return ()
    return ("doc_id", "system_id") if is_wide(header) else OUTPUT_COLUMNS


def _with_references(record: dict[str, Any], place: Place) -> dict[str, Any]:
    """Return a table's record; several references are written in one field as a JSON list."""
    references = record.get("references", "").strip()
    if references.startswith("["):
        try:
            record["references"] = orjson.loads(references)
        except orjson.JSONDecodeError as error:
            place.error("references", f"begins with [ but is not a JSON list ({error})")
    return record


class SiblingRequests:
    """Requests by their `custom_id`; files are read when the first result needs one."""

    def __init__(self, files: Sequence[Path]) -> None:
        self.files = files

    def put_into(self, record: Mapping[str, Any]) -> Mapping[str, Any]:
        """Add the request that a result answers; any other record stays unchanged."""
        if not is_result(record):
            return record
        name = record["custom_id"]
        request = self._by_name.get(name) if isinstance(name, str) else None
        return record if request is None else {**record, REQUEST: request}

    @cached_property
    def _by_name(self) -> dict[str, Mapping[str, Any]]:
        by_name: dict[str, Mapping[str, Any]] = {}
        for path in self.files:
            with suppress(*UNREADABLE), open_packed(path) as raw:
                records = records_of(raw, path.name, FileErrors(most=0))
                if not isinstance(records, Objects):
                    continue
                for _, record in records.lines:
                    if not is_request(record):
                        break  # not a file of requests
                    by_name[str(record["custom_id"])] = record
        return by_name
