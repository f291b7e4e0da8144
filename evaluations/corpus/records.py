"""From the bytes of a file to records: the format is found by looking, what is no record is added
to the faults.

Known formats: CSV with commas, semicolons or tabs, JSON Lines, one JSON list or object, Parquet.
Tables, JSON Lines and Parquet are streamed; a JSON list or object is one value, and may be as large
as GEVAL_JSON_LIMIT_MB.
"""

import csv
import io
import itertools
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import IO, Any

import orjson
from django.conf import settings

from evaluations.corpus.fields import kind
from evaluations.corpus.limits import too_many_columns, too_many_fields
from evaluations.corpus.packed import PackedError
from evaluations.corpus.parquet import parquet_records
from evaluations.corpus.rows import EXPECTED, Faults

PARQUET = b"PAR1"
FAST_CHARACTERS = 2**22
DELIMITERS = (",", "\t", ";")


class Format(StrEnum):
    CSV = "CSV"
    TSV = "CSV with tabs"
    SEMICOLONS = "CSV with semicolons"
    JSONL = "JSON Lines"
    LIST = "JSON list"
    OBJECT = "JSON object"
    PARQUET = "Parquet"


Record = Mapping[str, Any]


@dataclass(frozen=True)
class Table:
    """A file of rows under a header: the fields of each line, in the order of the header."""

    format: Format
    header: tuple[str, ...]
    header_line: int
    lines: Iterator[tuple[int, list[str]]]


@dataclass(frozen=True)
class Objects:
    """A file of objects, each with the line (in a list or Parquet: the number) it stands at."""

    format: Format
    lines: Iterator[tuple[int, Record]]


def records_of(raw: IO[bytes], name: str, faults: Faults) -> Table | Objects | None:
    """The records in an unpacked file; None where there are none at all, with a fault that says
    why."""
    stream: Any = raw if hasattr(raw, "peek") else io.BufferedReader(raw)
    if is_parquet(stream):
        return Objects(Format.PARQUET, parquet_records(stream, name, faults))
    # Broken UTF-8 survives as lone surrogates, so that the fault can name the line and column it is
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
        faults.add(name, 0, "", f"the file is empty; {EXPECTED}")
        return None
    if opening == "[":
        return Objects(Format.LIST, _list_records(_whole(first, text), name, faults))
    if first.strip() == "{":
        return Objects(Format.OBJECT, _one_record(_whole(first, text), name, faults))
    if opening == "{":
        return Objects(
            Format.JSONL, _line_records(itertools.chain([first], lines), skipped + 1, name, faults)
        )
    return _table(first, lines, skipped + 1, name, faults)


def is_parquet(stream: Any) -> bool:
    """Whether a stream that was not read from yet is a Parquet file's."""
    return bool(stream.peek(4)[:4] == PARQUET)


def _limited_lines(stream: IO[str]) -> Iterator[str]:
    """Lines, until one is longer than any record may be: a few kilobytes can unpack to one of
    gigabytes."""
    most = 4 * settings.FIELD_LIMIT_BYTES
    while line := stream.readline(most + 1):
        if len(line) > most:
            raise PackedError(
                f"has a line of more than {most // 2**20:,} MB, four times the limit of a field "
                "(GEVAL_FIELD_LIMIT_MB); shorten it"
            )
        yield line


def _whole(first: str, stream: IO[str]) -> str:
    most = settings.JSON_LIMIT_BYTES
    whole, size = io.StringIO(), 0
    whole.write(first)
    # Asked for all at once, the stream would make room for as much as there may be.
    while piece := stream.read(2**20):
        size += whole.write(piece)
        if size > most:
            raise PackedError(
                f"is one JSON value of more than {most // 2**20:,} MB (GEVAL_JSON_LIMIT_MB); write"
                " it as JSON Lines, one object a line"
            )
    return whole.getvalue()


# JSON


def _line_records(
    lines: Iterable[str], first_line: int, name: str, faults: Faults
) -> Iterator[tuple[int, Record]]:
    for number, line in enumerate(lines, start=first_line):
        if not line.strip():
            continue
        try:
            record = _loaded(line)
        except RecursionError:
            faults.add(name, number, "", _too_deep())
            continue
        except ValueError as error:
            faults.add(name, number, "", f"not JSON ({error}); each line holds one object")
            continue
        if _is_too_deep(record, line):
            faults.add(name, number, "", _too_deep())
        elif not isinstance(record, dict):
            expected = "doc_id, system_id, source, output"
            faults.add(
                name, number, "", f"expected an object with {expected}, found {kind(record)}"
            )
        elif said := too_many_fields(record):
            faults.add(name, number, "", said)
        else:
            yield number, record


def _loaded(line: str) -> Any:
    """A line's value. orjson is much faster, and takes twelve times a text's length in memory."""
    if len(line) <= FAST_CHARACTERS:
        return orjson.loads(line)
    return json.loads(line, parse_constant=_refuse_constant)


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no number of JSON")


def _list_records(text: str, name: str, faults: Faults) -> Iterator[tuple[int, Record]]:
    records = _parsed(text, name, faults, "not JSON: {0.msg}")
    if records == []:
        faults.add(name, 0, "", f"the list is empty; {EXPECTED}")
    for number, record in enumerate(records or (), start=1):
        if not isinstance(record, dict):
            faults.add(name, number, "", f"expected an object, found {kind(record)}")
        elif said := too_many_fields(record):
            faults.add(name, number, "", said)
        else:
            yield number, record


def _one_record(text: str, name: str, faults: Faults) -> Iterator[tuple[int, Record]]:
    message = "not JSON ({0}); each line holds one object, or the file is a list"
    record = _parsed(text, name, faults, message)
    if record is not None:
        yield 1, record


def _parsed(text: str, name: str, faults: Faults, message: str) -> Any:
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        faults.add(name, error.lineno, f"column {error.colno}", message.format(error))
    except RecursionError:
        faults.add(name, 0, "", _too_deep())
    except ValueError as error:  # a number of thousands of digits
        faults.add(name, 0, "", f"not JSON ({error})")
    else:
        if not _is_too_deep(value, text):
            return value
        faults.add(name, 0, "", _too_deep())
    return None


def _is_too_deep(value: Any, text: str) -> bool:
    most = settings.JSON_DEPTH
    # Few records have so many brackets that they could be.
    return text.count("[") + text.count("{") > most and _depth(value, most) > most


def _depth(value: Any, most: int) -> int:
    """How many lists and objects stand within each other; counting ends one beyond `most`."""
    depth, level = 0, [value]
    while depth <= most and (
        containers := [part for part in level if isinstance(part, dict | list)]
    ):
        level = [
            part for one in containers for part in (one.values() if isinstance(one, dict) else one)
        ]
        depth += 1
    return depth


def _too_deep() -> str:
    return (
        f"the JSON is nested too deeply; the limit is {settings.JSON_DEPTH} levels"
        " (GEVAL_JSON_DEPTH)"
    )


# Tables


def _table(
    header_line: str, lines: Iterator[str], first_line: int, name: str, faults: Faults
) -> Table | None:
    csv.field_size_limit(settings.FIELD_LIMIT_BYTES)
    delimiter = max(DELIMITERS, key=lambda mark: (header_line.count(mark), mark == ","))
    reader = csv.reader(itertools.chain([header_line], lines), delimiter=delimiter, strict=True)
    try:
        header = tuple(column.strip() for column in next(reader))
    except csv.Error as error:
        faults.add(name, first_line, "", f"not CSV: {error} in the header; {EXPECTED}")
        return None
    if said := too_many_columns(len(header)):
        faults.add(name, first_line, "", said)
        return None
    twice = sorted(column for column, count in Counter(header).items() if count > 1)
    if twice:
        faults.add(name, first_line, twice[0], "this column is there twice; keep one")
        return None
    format_ = {",": Format.CSV, "\t": Format.TSV, ";": Format.SEMICOLONS}[delimiter]
    return Table(
        format_, header, first_line, _table_lines(reader, header, first_line, name, faults)
    )


def _table_lines(
    reader: Any, header: tuple[str, ...], first_line: int, name: str, faults: Faults
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
            faults.add(
                name, line, "", f"not CSV: {error}; a quote within a quoted field is written twice"
            )
        began = first_line - 1 + reader.line_num
        if not values:
            continue
        if len(values) != len(header):
            faults.add(
                name,
                line,
                "",
                f"expected {len(header)} fields as in the header, found {len(values)}",
            )
            continue
        yield line, values
