"""Convert a file's bytes to records: the format is detected, and errors are collected.

Known formats: CSV with commas, semicolons or tabs, JSON Lines, one JSON list or object, Parquet,
Arrow, a sheet of a workbook. All are streamed except a JSON list or object, which is a single value
and may be as large as GEVAL_JSON_LIMIT_MB.
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

import orjson

from geval.files.fields import kind
from geval.files.limits import file_limits, is_too_deep, too_deep, too_many_columns, too_many_fields
from geval.files.packed import PackedError
from geval.files.parquet import columnar_records, is_arrow, is_parquet
from geval.files.rows import EXPECTED, FileErrors
from geval.files.sheets import SheetTable, may_be_workbook, read_sheet
from geval.files.tools import held_by, record_holders
from geval.files.tools.spans import is_flat
from geval.files.tools.system_columns import has_system_columns

# orjson takes twelve times a text's length: 50 MB here.
FAST_CHARACTERS = 2**22
# How text in UTF-16 begins, which spreadsheets call Unicode text.
UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
DELIMITERS = (",", "\t", ";")
# A cell between tabs: completely quoted, or unquoted.
_CELL = re.compile(r'(?:^|(?<=\t))(?:(?P<whole>"(?:[^"]|"")*")(?=[\t\r\n]|$)|[^\t\r\n]+)')


class Format(StrEnum):
    CSV = "CSV"
    TSV = "CSV with tabs"
    SEMICOLONS = "CSV with semicolons"
    JSONL = "JSON Lines"
    LIST = "JSON list"
    OBJECT = "JSON object"
    PARQUET = "Parquet"
    ARROW = "Arrow"
    SHEET = "Spreadsheet"


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
    if isinstance(records, Table) and is_flat(records.header):
        return Objects(records.format, _as_objects(records, blanks=False))
    if isinstance(records, Table) and has_system_columns(records.header):
        return Objects(records.format, _as_objects(records, blanks=True))
    if isinstance(records, Objects):
        return replace(records, lines=_unfolded(records.lines, name, errors))
    return records


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
    if stream.peek(2)[:2] in UTF_16:
        errors.add(name, 0, "", "the text is in UTF-16; save it as UTF-8 (Excel: CSV UTF-8)")
        return None
    # Broken UTF-8 survives as lone surrogates, so that the error can name the line and column it is
    # in.
    text = io.TextIOWrapper(stream, encoding="utf-8-sig", errors="surrogateescape", newline="")
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
    if first.strip() == "{":
        return Objects(Format.OBJECT, _one_record(_whole(first, text), name, errors))
    if opening == "{":
        return Objects(
            Format.JSONL, _line_records(itertools.chain([first], lines), skipped + 1, name, errors)
        )
    return _table(first, lines, skipped + 1, name, errors)


def _unfolded(
    lines: Iterator[tuple[int, Record]], name: str, errors: FileErrors
) -> Iterator[tuple[int, Record]]:
    """Yield records; those that a tool writes in one object are numbered consecutively."""
    number = 0
    for line, record in lines:
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


def _limited_lines(stream: IO[str]) -> Iterator[str]:
    """Yield lines, until one is longer than a record may be: a few kilobytes can unpack to
    gigabytes."""
    most = 4 * file_limits().field_bytes
    while line := stream.readline(most + 1):
        if len(line) > most:
            raise PackedError(
                f"has a line of more than {most // 2**20:,} MB, four times the limit of a field "
                "(GEVAL_FIELD_LIMIT_MB); shorten it"
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
                f"is one JSON value of more than {most // 2**20:,} MB (GEVAL_JSON_LIMIT_MB); write "
                "it as JSON Lines, one object per line"
            )
    return whole.getvalue()


# JSON


def _line_records(
    lines: Iterable[str], first_line: int, name: str, errors: FileErrors
) -> Iterator[tuple[int, Record]]:
    for number, line in enumerate(lines, start=first_line):
        if not line.strip():
            continue
        try:
            record = _loaded(line)
        except RecursionError:
            errors.add(name, number, "", too_deep())
            continue
        except ValueError as error:
            errors.add(name, number, "", f"not JSON ({error}); each line must be one object")
            continue
        if _is_too_deep(record, line):
            errors.add(name, number, "", too_deep())
        elif not isinstance(record, dict):
            expected = "doc_id, system_id, source, output"
            errors.add(
                name, number, "", f"expected an object with {expected}, found {kind(record)}"
            )
        elif problem := too_many_fields(record):
            errors.add(name, number, "", problem)
        else:
            yield number, record


def _loaded(line: str) -> Any:
    """Parse a line. orjson is much faster, but takes twelve times a text's length in memory."""
    if len(line) <= FAST_CHARACTERS:
        return orjson.loads(line)
    return json.loads(line, parse_constant=_refuse_constant)


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a JSON number")


def _list_records(text: str, name: str, errors: FileErrors) -> Iterator[tuple[int, Record]]:
    records = _parsed(text, name, errors, "not JSON: {0.msg}")
    if records == []:
        errors.add(name, 0, "", f"the list is empty; {EXPECTED}")
    for number, record in enumerate(records or (), start=1):
        if not isinstance(record, dict):
            errors.add(name, number, "", f"expected an object, found {kind(record)}")
        elif problem := too_many_fields(record):
            errors.add(name, number, "", problem)
        else:
            yield number, record


def _one_record(text: str, name: str, errors: FileErrors) -> Iterator[tuple[int, Record]]:
    message = "not JSON ({0}); each line must be one object, or the file a list"
    record = _parsed(text, name, errors, message)
    if record is not None:
        yield 1, record


def _parsed(text: str, name: str, errors: FileErrors, message: str) -> Any:
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        errors.add(name, error.lineno, f"column {error.colno}", message.format(error))
    except RecursionError:
        errors.add(name, 0, "", too_deep())
    except ValueError as error:  # a number with thousands of digits
        errors.add(name, 0, "", f"not JSON ({error})")
    else:
        if not _is_too_deep(value, text):
            return value
        errors.add(name, 0, "", too_deep())
    return None


def _is_too_deep(value: Any, text: str) -> bool:
    # Few records have enough brackets to be nested that deeply.
    return text.count("[") + text.count("{") > file_limits().json_depth and is_too_deep(value)


# Tables


def _table(
    header_line: str, lines: Iterator[str], first_line: int, name: str, errors: FileErrors
) -> Table | None:
    csv.field_size_limit(file_limits().field_bytes)
    # Cells copied from a spreadsheet are separated by tabs, and may contain any other separator.
    delimiter = (
        "\t"
        if "\t" in header_line
        else max(DELIMITERS, key=lambda mark: (header_line.count(mark), mark == ","))
    )
    rows = itertools.chain([header_line], lines)
    copied = _with_quoted_cells(rows) if delimiter == "\t" else rows
    reader = csv.reader(copied, delimiter=delimiter, strict=True)
    try:
        header = tuple(column.strip() for column in next(reader))
    except csv.Error as error:
        errors.add(name, first_line, "", f"not CSV: {error} in the header; {EXPECTED}")
        return None
    if not _is_header(header, first_line, name, errors):
        return None
    format_ = {",": Format.CSV, "\t": Format.TSV, ";": Format.SEMICOLONS}[delimiter]
    return Table(
        format_, header, first_line, _table_lines(reader, header, first_line, name, errors)
    )


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
        errors.add(name, line, twice[0], "this column occurs twice; keep one")
    return not twice


def _sheet_table(table: SheetTable, name: str, errors: FileErrors) -> Table | None:
    header = tuple(column.strip() for column in table.header)
    if not _is_header(header, table.header_line, name, errors):
        return None
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
