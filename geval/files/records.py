"""Convert a file's bytes to records: the format is detected, and errors are collected.

Known formats: CSV with commas, semicolons, tabs or bars, JSON Lines, a JSON list, JSON objects one
after another, Parquet, Arrow, a sheet of a workbook. All are streamed except a JSON list and
objects of several lines, which may be as large as the limit `json_bytes`.
"""

import codecs
import csv
import io
import itertools
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import IO, Any

from geval.files.column_aliases import KNOWN_NAMES
from geval.files.fields import kind
from geval.files.json_values import Note, Repeating, decoded, decoded_values, rows_of_columns
from geval.files.limits import file_limits, is_too_deep, too_deep, too_many_columns, too_many_fields
from geval.files.mapping import structure_of
from geval.files.packed import PackedError
from geval.files.parquet import columnar_records, is_arrow, is_parquet
from geval.files.questions import listed
from geval.files.rows import EXPECTED, FileErrors
from geval.files.sheets import MOST_ROWS_ABOVE, SheetTable, may_be_workbook, read_sheet
from geval.files.tools import held_by, potato, record_holders
from geval.files.tools.mturk import is_of_turk
from geval.files.tools.promptfoo_tables import has_result_columns, with_results_named
from geval.files.tools.spans import is_flat
from geval.files.tools.system_columns import has_system_columns
from geval.files.unused import holds_something
from geval.texts.sentences import shortened
from geval.texts.spreadsheets import SEPARATORS, separator_of

# How text in UTF-16 begins, which spreadsheets call Unicode text.
UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
# The first line in which Excel names the separator of the others.
_SEPARATOR_LINE = re.compile(r'"?sep=(?P<separator>[,;|\t])"?[,;|\s]*')
# A header as R's write.table writes it, whose first column has no name.
_QUOTED_NAMES = re.compile(r'"[^"]*"(?: "[^"]*")+')
ROW_NAMES = "row names"
# How the opening tag of a page or an XML file begins.
_MARKUP = re.compile(r"<(?:[!?]|[A-Za-z])")
# A cell between tabs: completely quoted, or unquoted.
_CELL = re.compile(r'(?:^|(?<=\t))(?:(?P<whole>"(?:[^"]|"")*")(?=[\t\r\n]|$)|[^\t\r\n]+)')


class Format(StrEnum):
    CSV = "CSV"
    TSV = "CSV with tabs"
    SEMICOLONS = "CSV with semicolons"
    BARS = "CSV with bars"
    SPACES = "CSV with spaces"
    JSONL = "JSON Lines"
    LIST = "JSON list"
    OBJECTS = "JSON objects"
    PARQUET = "Parquet"
    ARROW = "Arrow"
    SHEET = "Spreadsheet"


# The formats of tables by what separates their cells.
DELIMITED = {",": Format.CSV, "\t": Format.TSV, ";": Format.SEMICOLONS, "|": Format.BARS,
             " ": Format.SPACES}  # fmt: skip

Record = Mapping[str, Any]


@dataclass(frozen=True)
class Table:
    """A file of rows under a header: the fields of each line, in the header's order. In a workbook
    they are from `sheet`; `sheets` are all sheets that look like tables."""

    format: Format
    header: tuple[str, ...]
    header_line: int
    lines: Iterator[tuple[int, list[str]]]
    sheet: str = ""
    sheets: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Objects:
    """A file of objects, each with its line (in a list or Parquet: its number)."""

    format: Format
    lines: Iterator[tuple[int, Record]]


def records_of(
    raw: IO[bytes], name: str, errors: FileErrors, sheet: str = ""
) -> Table | Objects | None:
    """Return the records in an unpacked file; None if there are none, with an error that says why.

    Args:
        sheet: of a workbook; by default the first that looks like a table.
    """
    records = _records_of(raw, name, errors, sheet)
    if isinstance(records, Table):
        records = _with_rows(records, name, errors)
    if isinstance(records, Objects):
        whole = _unwrapped(records.lines, name, errors)
        return replace(records, lines=_unfolded(whole, name, errors))
    if records and is_flat(records.header):
        return Objects(records.format, _as_objects(records, blanks=False))
    has_results = (has_system_columns, has_result_columns, is_of_turk, potato.label_columns)
    if records and any(has(records.header) for has in has_results):
        return Objects(records.format, _as_objects(records, blanks=True))
    return records


def _with_rows(table: Table, name: str, errors: FileErrors) -> Table | None:
    """Return a table unless it has a header alone, which is an error."""
    total = errors.total
    first = next(table.lines, None)
    if first is None and errors.total == total:
        errors.add(name, table.header_line, "", "the file has a header and no rows")
    return None if first is None else replace(table, lines=itertools.chain([first], table.lines))


def _records_of(
    raw: IO[bytes], name: str, errors: FileErrors, sheet: str
) -> Table | Objects | None:
    stream: Any = raw if hasattr(raw, "peek") else io.BufferedReader(raw)
    if is_parquet(stream):
        return Objects(Format.PARQUET, columnar_records(stream, name, errors))
    if is_arrow(stream):
        return Objects(Format.ARROW, columnar_records(stream, name, errors))
    if may_be_workbook(stream):
        return _sheet_table(read_sheet(stream, sheet), name, errors)
    # Broken UTF-8 survives as lone surrogates, so that the error can name the line and column it is
    # in.
    encoding, errors_in = ("utf-8-sig", "surrogateescape")
    if stream.peek(2)[:2] in UTF_16:
        encoding, errors_in = ("utf-16", "replace")
    text = io.TextIOWrapper(stream, encoding=encoding, errors=errors_in, newline="")
    lines = _limited_lines(text)
    first, skipped = "", 0
    for line in lines:
        if line.strip():
            first = line
            break
        skipped += 1
    opening = first.lstrip()[:1]
    if not opening:
        errors.add(name, 0, "", f"the file is empty; {EXPECTED}")
        return None
    if opening == "[":
        return Objects(Format.LIST, _list_records(_whole(first, text), name, errors))
    if opening == "{" and not first.rstrip().rstrip(",").endswith("}"):
        records = _object_records(_whole(first, text), skipped, name, errors)
        return Objects(Format.OBJECTS, records)
    if opening == "{":
        return Objects(
            Format.JSONL, _line_records(itertools.chain([first], lines), skipped + 1, name, errors)
        )
    if _MARKUP.match(first.lstrip()):
        errors.add(name, 0, "", MARKUP)
        return None
    return _table(first, lines, skipped + 1, name, errors)


MARKUP = (
    "an HTML or XML file, whatever its name ends with: open it in a spreadsheet program and save it"
    " as .xlsx or CSV"
)


def _unwrapped(
    lines: Iterator[tuple[int, Record]], name: str, errors: FileErrors
) -> Iterator[tuple[int, Record]]:
    """Yield records; those in a list, where the whole file is one object around it."""
    ahead = list(itertools.islice(lines, 2))
    record = ahead[0][1] if len(ahead) == 1 else {}
    filled = {name: value for name, value in record.items() if holds_something(value)}
    lists = {n: v for n, v in filled.items() if isinstance(v, list) and isinstance(v[0], dict)}
    is_file = rows_of_columns(record) is not None or held_by(record) is not None
    if not lists or is_file or not KNOWN_NAMES.isdisjoint(record) or structure_of(record):
        yield from itertools.chain(ahead, lines)
    elif len(lists) > 1:
        message = f"several lists of rows: {listed(lists)}; put each into a file of its own"
        errors.add(name, ahead[0][0], "", message)
    else:
        for other in (key for key in filled if key not in lists):
            errors.unused.add(name, other)
        for number, row in enumerate(itertools.chain(*lists.values())):
            if _is_object(row, "", number + 1, name, errors):
                yield number + 1, row


def _unfolded(
    lines: Iterator[tuple[int, Record]], name: str, errors: FileErrors
) -> Iterator[tuple[int, Record]]:
    """Yield records; those that a tool or pandas writes in one object are numbered
    consecutively."""
    number = 0
    for line, record in lines:
        if (rows := rows_of_columns(record)) is not None:
            yield from enumerate(rows, start=number + 1)
            number += len(rows)
            continue
        held = None if record_holders().isdisjoint(record) else held_by(record)
        if held is None:
            yield line, record
            continue
        for other in held.others:
            errors.unused.add(name, other)
        for inner in held.records:
            number += 1
            if isinstance(inner, dict):
                yield number, inner
            else:
                errors.add(name, number, held.tool.holder, f"expected objects, found {kind(inner)}")


def _as_objects(table: Table, *, blanks: bool) -> Iterator[tuple[int, Record]]:
    for line, values in table.lines:
        cells = zip(table.header, values, strict=True)
        yield line, {name: value for name, value in cells if blanks or value != ""}


def with_added(records: Table | Objects, added: Mapping[str, str]) -> Objects:
    """Return records with columns that all of them lack, by name; `#` in a value is the number of
    the record."""
    if isinstance(records, Table):
        records = Objects(records.format, _as_objects(records, blanks=True))
    whole = (
        (line, {**record, **numbered(added, number)})
        for number, (line, record) in enumerate(records.lines, start=1)
    )
    return replace(records, lines=whole)


def numbered(added: Mapping[str, str], number: int) -> dict[str, str]:
    return {name: value.replace("#", str(number)) for name, value in added.items()}


def _limited_lines(stream: IO[str]) -> Iterator[str]:
    """Yield lines, until one is longer than a record may be: a few kilobytes can unpack to
    gigabytes."""
    most = 4 * file_limits().field_bytes
    while line := stream.readline(most + 1):
        if len(line) > most:
            raise PackedError(
                f"has a line of more than {most // 2**20:,} MB, four times the limit of a field;"
                " shorten it"
            )
        yield line


def _whole(first: str, stream: IO[str]) -> str:
    most = file_limits().json_bytes
    whole, size = io.StringIO(), 0
    whole.write(first)
    # If everything were requested at once, the stream would reserve memory for the largest possible
    # size.
    while piece := stream.read(2**20):
        size += whole.write(piece)
        if size > most:
            raise PackedError(
                f"is one JSON value of more than {most // 2**20:,} MB; write it as JSON Lines, one"
                " object per line"
            )
    return whole.getvalue()


# JSON


def _note_of(name: str, errors: FileErrors) -> Note:
    return lambda replaced: errors.unused.add(name, replaced)


def _line_records(
    lines: Iterable[str], first_line: int, name: str, errors: FileErrors
) -> Iterator[tuple[int, Record]]:
    note = _note_of(name, errors)
    for number, line in enumerate(lines, start=first_line):
        if not line.strip():
            continue
        try:
            records = _records_in(line, note)
        except RecursionError:
            errors.add(name, number, "", too_deep())
            continue
        except ValueError as error:
            errors.add(name, number, "", f"not JSON ({error}); each line must be one object")
            continue
        for record in records:
            if _is_object(record, line, number, name, errors):
                yield number, record


def _records_in(line: str, note: Note) -> list[Any]:
    """Return the object of a line, or the objects where it has several."""
    try:
        return [decoded(line, note)]
    except ValueError:
        records = [record for _, record in decoded_values(line, note)]
        if not all(isinstance(record, dict) for record in records):
            raise
        return records


def _is_object(record: Any, text: str, number: int, name: str, errors: FileErrors) -> bool:
    """Return whether a value is an object that can be read; otherwise add an error."""
    if _is_too_deep(record, text):
        problem = too_deep()
    elif isinstance(record, Repeating):
        problem = f"“{record.name}” occurs twice in an object with different values; keep one"
    elif not isinstance(record, dict):
        problem = f"expected an object with doc_id, system_id, source, output, found {kind(record)}"
    else:
        problem = too_many_fields(record)
    if problem:
        errors.add(name, number, "", problem)
    return not problem


def _list_records(text: str, name: str, errors: FileErrors) -> Iterator[tuple[int, Record]]:
    records: Any = []
    try:
        records = decoded(text, _note_of(name, errors))
    except RecursionError:
        errors.add(name, 0, "", too_deep())
        return
    except ValueError as error:
        _report_no_json(error, 0, name, errors)
        return
    if records == []:
        errors.add(name, 0, "", f"the list is empty; {EXPECTED}")
    if _is_too_deep(records, text):
        errors.add(name, 0, "", too_deep())
        return
    for number, record in enumerate(records, start=1):
        if _is_object(record, "", number, name, errors):
            yield number, record


def _object_records(
    text: str, skipped: int, name: str, errors: FileErrors
) -> Iterator[tuple[int, Record]]:
    """Yield objects that follow one another, each of any number of lines."""
    try:
        for line, record in decoded_values(text, _note_of(name, errors)):
            if _is_object(record, text, skipped + line, name, errors):
                yield skipped + line, record
    except RecursionError:
        errors.add(name, 0, "", too_deep())
    except ValueError as error:
        _report_no_json(error, skipped, name, errors)


def _report_no_json(error: ValueError, skipped: int, name: str, errors: FileErrors) -> None:
    """Report what is no JSON, at its place: a number with thousands of digits has none."""
    if isinstance(error, json.JSONDecodeError):
        place = f"column {error.colno}"
        errors.add(name, skipped + error.lineno, place, f"not JSON ({error.msg})")
    else:
        errors.add(name, 0, "", f"not JSON ({error})")


def _is_too_deep(value: Any, text: str) -> bool:
    # Few records have enough brackets to be nested that deeply.
    return text.count("[") + text.count("{") > file_limits().json_depth and is_too_deep(value)


# Tables


def _table(
    header_line: str, lines: Iterator[str], first_line: int, name: str, errors: FileErrors
) -> Table | None:
    csv.field_size_limit(file_limits().field_bytes)
    separator = _SEPARATOR_LINE.fullmatch(header_line)
    if separator:
        header_line, first_line = next(lines, ""), first_line + 1
    try:
        titles, header_line, lines = _below_titles(header_line, lines)
        for title in filter(str.strip, titles):
            errors.unused.add(name, f"title “{shortened(title.strip().strip(SEPARATORS), 60)}”")
        first_line += len(titles)
        delimiter = separator["separator"] if separator else _separator_of(header_line)
        below = next(lines, "")
        rows = itertools.chain([header_line, below], lines)
        copied = _with_quoted_cells(rows) if delimiter == "\t" else rows
        reader = csv.reader(copied, delimiter=delimiter, strict=True)
        header = with_results_named([column.strip() for column in next(reader)])
        first = next(csv.reader([below], delimiter=delimiter), [""])
        may_be_by_r = header_line.startswith('"') or delimiter == "\t"
        if may_be_by_r and len(first) == len(header) + 1 and first[-1]:
            header = (ROW_NAMES, *header)
    except csv.Error as error:
        errors.add(name, first_line, "", f"not CSV: {error} in the header; {EXPECTED}")
        return None
    if not _is_header(header, first_line, name, errors):
        return None
    records = _table_lines(reader, header, first_line, name, errors)
    return Table(DELIMITED[delimiter], header, first_line, records)


def _separator_of(line: str) -> str:
    return " " if _QUOTED_NAMES.fullmatch(line.strip()) else separator_of(line)


def _below_titles(first: str, lines: Iterator[str]) -> tuple[list[str], str, Iterator[str]]:
    """Return the lines of one cell above a header, the header's line, and the lines below it."""
    above = [first]
    while _is_title(above[-1]) and len(above) <= MOST_ROWS_ABOVE and (line := next(lines, "")):
        above.append(line)
    if _is_title(above[-1]) or above[-1].lstrip()[:1] in tuple("{[<"):
        return [], first, itertools.chain(above[1:], lines)
    return above[:-1], above[-1], lines


def _is_title(line: str) -> bool:
    """Return whether a line has one cell or none, and is no part of a cell of several lines."""
    cells = next(csv.reader([line], delimiter=_separator_of(line)), [])
    return sum(bool(cell.strip()) for cell in cells) < 2 and line.count('"') % 2 == 0


def _with_quoted_cells(lines: Iterable[str]) -> Iterator[str]:
    """Convert lines of a tab-separated table to CSV: spreadsheets copy a cell such as `"So" it
    says` without escaping its quotation marks, and quote a cell of several lines."""
    is_open = False
    for line in lines:
        is_even = line.count('"') % 2 == 0
        yield _CELL.sub(_quoted_cell, line) if is_even and not is_open else line
        is_open ^= not is_even


def _quoted_cell(cell: re.Match[str]) -> str:
    written = cell[0]
    if cell["whole"] is not None or not written.startswith('"'):
        return written
    return '"' + written.replace('"', '""') + '"'


def _is_header(header: tuple[str, ...], line: int, name: str, errors: FileErrors) -> bool:
    """Return whether a table can have this header; otherwise add an error."""
    if reason := too_many_columns(len(header)):
        errors.add(name, line, "", reason)
        return False
    twice = sorted(column for column, count in Counter(header).items() if count > 1)
    if twice:
        errors.add(name, line, twice[0] or "(no name)", "this column occurs twice; keep one")
    return not twice


def _sheet_table(table: SheetTable, name: str, errors: FileErrors) -> Table | None:
    header = with_results_named([column.strip() for column in table.header])
    if not _is_header(header, table.header_line, name, errors):
        return None
    for other, rows in table.unread.items():
        errors.unused.add(name, f"sheet “{other}”", rows)
    lines = ((line, values) for line, values in table.lines if _holds_anything(values))
    return Table(Format.SHEET, header, table.header_line, lines, table.sheet, table.sheets)


def _holds_anything(values: list[str]) -> bool:
    return any(value.strip() for value in values)


def _table_lines(
    reader: Any, header: tuple[str, ...], first_line: int, name: str, errors: FileErrors
) -> Iterator[tuple[int, list[str]]]:
    began = first_line + reader.line_num - 1
    while True:
        line = began + 1
        try:
            values = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            values = []
            errors.add(name, line, "", f"not CSV: {error}; double each quote within a quoted field")
        began = first_line - 1 + reader.line_num
        if not _holds_anything(values):
            continue
        if len(values) != len(header):
            errors.add(
                name,
                line,
                "",
                f"expected {len(header)} fields as in the header, found {len(values)}",
            )
            continue
        yield line, values
