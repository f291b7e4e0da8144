"""From the bytes of a file to rows: the format is found by looking, faults are collected with their place.

Known formats: JSONL or CSV of outputs, of ratings (a column `annotator`), of scores (a column `judge`), of preferences
(a column `winner`); the JSON lists of the G-Eval and UniEval releases, with raw replies (`all_responses`) or not.
Each plain or gzip. CSV and JSONL are streamed; a JSON list is one value.
"""

import csv
import gzip
import io
import itertools
import json
import math
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import orjson

from evaluations.corpus.conventions import conventional, expert_ratings, is_ours
from evaluations.corpus.packed import PackedError, open_packed
from evaluations.corpus.preference_rows import (
    is_preference,
    is_preference_map,
    preferences_of_map,
    read_preference,
)
from evaluations.corpus.rows import Faults, JudgeScoreRow, OutputRow, RatingRow, RepliesRow, Row, is_text

HUMAN_MEAN = "human mean"
ID_LIMIT = 200
CRITERION_LIMIT = 100
FIELD_LIMIT = 20 * 2**20
OUTPUT_COLUMNS = ("doc_id", "system_id", "source", "output")
SCORE_COLUMNS = ("doc_id", "system_id", "criterion", "score")
EXPECTED = (
    "expected JSONL or CSV of outputs (doc_id, system_id, source, output), "
    "CSV of ratings (doc_id, system_id, criterion, "
    "annotator, score), of scores (…, judge, score) or of preferences (doc_id, system_a, system_b, annotator, winner), "
    "or a JSON list with source, system_id, system_output and scores"
)


@dataclass(frozen=True)
class Unnamed:
    """What is to be taken for what a file does not say."""

    judge: str
    criterion: str = ""
    system: str = "system"


@dataclass(frozen=True)
class InputFile:
    """A file to load, and the name to call it by in messages."""

    path: Path
    name: str


def read_rows(file: InputFile, faults: Faults, *, unnamed: Unnamed) -> Iterator[Row]:
    """All rows of a file; what cannot be read is added to `faults` and left out.

    Args:
        unnamed: what the file itself may not say: whose `predict_scores` or replies it holds, on which criterion.
    """
    try:
        with _open(file.path) as stream:
            yield from _rows(stream, file.name, faults, unnamed)
    except (gzip.BadGzipFile, zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        faults.add(file.name, 0, "", f"the packed data is broken ({error}); pack the file again")
    except PackedError as error:
        faults.add(file.name, 0, "", str(error))
    except OSError as error:
        faults.add(file.name, 0, "", f"cannot be read: {error.strerror or error}")


def _open(path: Path) -> IO[str]:
    # Broken UTF-8 survives as lone surrogates, so that the fault can name the line and column it is in.
    return io.TextIOWrapper(open_packed(path), encoding="utf-8-sig", errors="surrogateescape", newline="")


def _rows(stream: IO[str], name: str, faults: Faults, unnamed: Unnamed) -> Iterator[Row]:
    first = ""
    skipped = 0
    for line in stream:
        if line.strip():
            first = line
            break
        skipped += 1
    opening = first.lstrip()[:1]
    if not opening:
        faults.add(name, 0, "", f"the file is empty; {EXPECTED}")
    elif opening == "[":
        yield from _release_rows(first + stream.read(), name, faults, unnamed)
    elif first.strip() == "{":
        yield from _object_rows(first + stream.read(), name, faults)
    elif opening == "{":
        yield from _jsonl_rows(itertools.chain([first], stream), skipped + 1, name, faults, unnamed)
    else:
        yield from _csv_rows(first, stream, skipped + 1, name, faults, unnamed)


# JSON


def _jsonl_rows(lines: Iterable[str], first_line: int, name: str, faults: Faults, unnamed: Unnamed) -> Iterator[Row]:
    for number, line in enumerate(lines, start=first_line):
        if not line.strip():
            continue
        try:
            record = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            faults.add(name, number, "", f"not JSON ({error}); each line holds one object")
            continue
        if not isinstance(record, dict):
            faults.add(
                name,
                number,
                "",
                f"expected an object with {', '.join(OUTPUT_COLUMNS)}, found {_kind(record)}",
            )
        elif is_preference_map(record):
            yield from preferences_of_map(record, number, name, faults)
        elif is_preference(record):
            yield from read_preference(record, number, name, faults)
        elif "all_responses" in record:
            yield from _replies_record(record, number, name, faults, unnamed)
        elif "score" in record and "output" not in record:
            yield from _score_record(record, number, name, faults)
        elif "system_output" in record:
            yield from _release_record(record, number, name, faults, unnamed)
        else:
            yield from _output_record(record, number, name, faults, unnamed)


def _release_rows(text: str, name: str, faults: Faults, unnamed: Unnamed) -> Iterator[Row]:
    try:
        records = json.loads(text)
    except json.JSONDecodeError as error:
        faults.add(name, error.lineno, f"column {error.colno}", f"not JSON: {error.msg}")
        return
    except RecursionError:
        faults.add(name, 0, "", "the JSON is nested too deeply")
        return
    if not records:
        faults.add(name, 0, "", f"the list is empty; {EXPECTED}")
    for number, record in enumerate(records, start=1):
        if not isinstance(record, dict):
            faults.add(name, number, "", f"expected an object, found {_kind(record)}")
        elif is_preference(record):
            yield from read_preference(record, number, name, faults)
        elif "all_responses" in record:
            yield from _replies_record(record, number, name, faults, unnamed)
        elif "system_output" in record:
            yield from _release_record(record, number, name, faults, unnamed)
        else:
            yield from _output_record(record, number, name, faults, unnamed)


def _object_rows(text: str, name: str, faults: Faults) -> Iterator[Row]:
    """A file that is one object over several lines: preferences as {annotator: {key: winner}}."""
    try:
        record = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        place = error.lineno if isinstance(error, json.JSONDecodeError) else 0
        faults.add(name, place, "", f"not JSON ({error}); each line holds one object, or the file is a list")
        return
    if is_preference_map(record):
        yield from preferences_of_map(record, 1, name, faults)
    else:
        faults.add(name, 1, "", f"one object over several lines; {EXPECTED}")


def _score_record(record: Mapping[str, Any], line: int, name: str, faults: Faults) -> Iterator[Row]:
    """A rating or a judge's score as an object; read like a line of CSV."""
    rater = next((column for column in ("annotator", "judge") if column in record), "annotator")
    header = [*SCORE_COLUMNS, rater]
    values = ["" if record.get(column) is None else str(record[column]) for column in header]
    yield from _score_reader(header, rater, name, faults)(header, values, line)


def _output_record(record: Mapping[str, Any], line: int, name: str, faults: Faults, unnamed: Unnamed) -> Iterator[Row]:
    """An output in our columns, or in those of another tool; SummEval's ratings come along."""
    before = faults.total
    given, record = record, _in_our_columns(record, unnamed)
    doc_id = _identifier(record, "doc_id", line, name, faults) if "doc_id" in record else None
    system = _identifier(record, "system_id", line, name, faults)
    source = _text(record, "source", line, name, faults, required=True)
    output = _text(record, "output", line, name, faults, required=True, may_be_blank=True)
    context = _text(record, "context", line, name, faults)
    references = _references(record.get("references"), line, name, faults)
    if faults.total > before:
        return
    yield OutputRow(line, doc_id, system, source, output, context, references)
    for annotator, criterion, score in expert_ratings(given):
        if isinstance(score, int | float) and not isinstance(score, bool) and math.isfinite(score):
            yield RatingRow(line, doc_id, system, criterion, annotator, float(score), "expert_annotations", source)
        else:
            faults.add(name, line, f"{annotator}.{criterion}", f"expected a number, found {_shown(score)}")


def _in_our_columns(record: Mapping[str, Any], unnamed: Unnamed) -> Mapping[str, Any]:
    """A record of another tool with our columns; any other as it is, so that faults speak of what we know."""
    if is_ours(record):
        return record
    found = conventional(record, system=unnamed.system)
    return found if "source" in found and "output" in found else {"doc_id": None, **record}


def _release_record(record: Mapping[str, Any], line: int, name: str, faults: Faults, unnamed: Unnamed) -> Iterator[Row]:
    """One object of the G-Eval or UniEval release: an output, its human means, and perhaps a judge's scores."""
    before = faults.total
    doc_id = _identifier(record, "doc_id", line, name, faults) if record.get("doc_id") is not None else None
    system = _identifier(record, "system_id", line, name, faults)
    source = _text(record, "source", line, name, faults, required=True)
    output = _text(record, "system_output", line, name, faults, required=True, may_be_blank=True)
    context = _text(record, "context", line, name, faults)
    reference = record.get("reference", record.get("references"))
    references = _references(reference, line, name, faults)
    numbers = {
        column: dict(_named_numbers(record.get(column), column, line, name, faults))
        for column in ("scores", "predict_scores")
    }
    if faults.total > before:
        return
    yield OutputRow(line, doc_id, system, source, output, context, references)
    for criterion, score in numbers["scores"].items():
        column = f"scores.{criterion}"
        yield RatingRow(line, doc_id, system, criterion, HUMAN_MEAN, score, column, source, is_mean=True)
    for criterion, score in numbers["predict_scores"].items():
        yield JudgeScoreRow(
            line, doc_id, system, criterion, unnamed.judge, score, f"predict_scores.{criterion}", source
        )


def _replies_record(record: Mapping[str, Any], line: int, name: str, faults: Faults, unnamed: Unnamed) -> Iterator[Row]:
    """One object of the G-Eval release's results: the raw replies of a judge about an output, with its texts or not."""
    before = faults.total
    if "system_output" in record:
        yield from _release_record(record, line, name, faults, unnamed)
    source = "" if record.get("doc_id") is not None else _text(record, "source", line, name, faults, required=True)
    doc_id = _identifier(record, "doc_id", line, name, faults) if record.get("doc_id") is not None else None
    system = _identifier(record, "system_id", line, name, faults)
    scores = record.get("scores")
    only = next(iter(scores), "") if isinstance(scores, dict) and len(scores) == 1 else ""
    criterion = str(record.get("criterion") or unnamed.criterion or only).strip()
    if not criterion:
        faults.add(
            name, line, "criterion", "the replies do not say what they rate; name the criterion as you load them"
        )
    _limited(criterion, CRITERION_LIMIT, "criterion", line, name, faults)
    replies = record["all_responses"]
    if not isinstance(replies, list) or not all(isinstance(reply, str) for reply in replies) or not replies:
        faults.add(name, line, "all_responses", f"expected a list of texts, found {_kind(replies)} or nothing in it")
    elif faults.total == before:
        cleaned = tuple(_clean(reply, "all_responses", line, name, faults) for reply in replies)
        if faults.total == before:
            yield RepliesRow(
                line, doc_id, system, criterion, str(record.get("judge") or unnamed.judge), cleaned, source
            )


def _named_numbers(value: Any, column: str, line: int, name: str, faults: Faults) -> Iterator[tuple[str, float]]:
    if value is None:
        return
    if not isinstance(value, dict):
        faults.add(name, line, column, f"expected an object of criterion and number, found {_kind(value)}")
        return
    for criterion, score in value.items():
        number = score if isinstance(score, int | float) and not isinstance(score, bool) else None
        if number is None or not math.isfinite(number):
            faults.add(name, line, f"{column}.{criterion}", f"expected a number, found {_shown(score)}")
        else:
            yield str(criterion).strip(), float(number)


def _identifier(record: Mapping[str, Any], column: str, line: int, name: str, faults: Faults) -> str:
    value = record.get(column)
    if isinstance(value, bool) or not isinstance(value, str | int) or not str(value).strip():
        found = "nothing" if value is None or value == "" else _shown(value)
        faults.add(name, line, column, f"expected a short text or whole number that names it, found {found}")
        return ""
    return _limited(str(value).strip(), ID_LIMIT, column, line, name, faults)


def _text(
    record: Mapping[str, Any], column: str, line: int, name: str, faults: Faults, *, required: bool = False,
    may_be_blank: bool = False,
) -> str:  # fmt: skip
    value = record.get(column)
    if value is None and not required:
        return ""
    if not isinstance(value, str):
        faults.add(name, line, column, f"expected a text, found {'nothing' if value is None else _kind(value)}")
        return ""
    if required and not may_be_blank and not value.strip():
        faults.add(name, line, column, "expected a text, found nothing")
    return _clean(value, column, line, name, faults)


def _references(value: Any, line: int, name: str, faults: Faults) -> tuple[str, ...]:
    if value is None or value == "":
        return ()
    listed = [value] if isinstance(value, str) else value
    if not isinstance(listed, list) or not all(isinstance(text, str) for text in listed):
        faults.add(name, line, "references", f"expected a list of texts, found {_kind(value)}")
        return ()
    return tuple(_clean(text, "references", line, name, faults) for text in listed)


# CSV


def _csv_rows(
    header_line: str, stream: IO[str], first_line: int, name: str, faults: Faults, unnamed: Unnamed
) -> Iterator[Row]:
    csv.field_size_limit(FIELD_LIMIT)
    delimiter = "\t" if header_line.count("\t") > header_line.count(",") else ","
    reader = csv.reader(itertools.chain([header_line], stream), delimiter=delimiter, strict=True)
    try:
        header = [column.strip() for column in next(reader)]
    except csv.Error as error:
        faults.add(name, first_line, "", f"not CSV: {error} in the header; {EXPECTED}")
        return
    twice = sorted({column for column in header if header.count(column) > 1})
    if twice:
        faults.add(name, first_line, twice[0], "this column is there twice; keep one")
        return
    if is_preference(header):
        yield from _csv_records(reader, header, first_line, name, faults, _preference_reader(name, faults))
        return
    rater = next((column for column in ("annotator", "judge") if column in header), None)
    wanted = (*SCORE_COLUMNS, rater) if rater else OUTPUT_COLUMNS
    missing = [column for column in wanted if column not in header]
    if missing and not rater and {"source", "output"} <= set(conventional(dict.fromkeys(header, "x"), system="x")):
        missing = []  # the columns of another tool
    if missing:
        found = ", ".join(header[:12])
        faults.add(name, first_line, ", ".join(missing), f"missing in the header ({found}); {EXPECTED}")
        return
    read = _score_reader(header, rater, name, faults) if rater else _output_reader(name, faults, unnamed)
    yield from _csv_records(reader, header, first_line, name, faults, read)


def _csv_records(
    reader: Any, header: list[str], first_line: int, name: str, faults: Faults, read: Any
) -> Iterator[Row]:
    began = first_line
    while True:
        line = began + 1
        try:
            values = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            values = []
            faults.add(name, line, "", f"not CSV: {error}; a quote within a quoted field is written twice")
        began = first_line - 1 + reader.line_num
        if not values:
            continue
        if len(values) != len(header):
            faults.add(name, line, "", f"expected {len(header)} fields as in the header, found {len(values)}")
            continue
        yield from read(header, values, line)


def _preference_reader(name: str, faults: Faults) -> Any:
    def read(header: list[str], values: list[str], line: int) -> Iterator[Row]:
        yield from read_preference(dict(zip(header, values, strict=True)), line, name, faults)

    return read


def _output_reader(name: str, faults: Faults, unnamed: Unnamed) -> Any:
    def read(header: list[str], values: list[str], line: int) -> Iterator[Row]:
        record: dict[str, Any] = dict(zip(header, values, strict=True))
        references = record.get("references", "").strip()
        if references.startswith("["):
            try:
                record["references"] = orjson.loads(references)
            except orjson.JSONDecodeError as error:
                faults.add(name, line, "references", f"begins with [ but is not a JSON list ({error})")
                return
        yield from _output_record(record, line, name, faults, unnamed)

    return read


def _score_reader(header: list[str], rater: str, name: str, faults: Faults) -> Any:
    """A reader for long files; these have the most rows, so columns are found once."""
    at = [header.index(column) for column in ("doc_id", "system_id", "criterion", rater, "score")]
    make: type[RatingRow] | type[JudgeScoreRow] = RatingRow if rater == "annotator" else JudgeScoreRow

    def read(_header: list[str], values: list[str], line: int) -> Iterator[Row]:
        doc_id, system, criterion, who, written = (values[index].strip() for index in at)
        before = faults.total
        for column, value in (("doc_id", doc_id), ("system_id", system), (rater, who)):
            if not value:
                faults.add(name, line, column, "expected a name, found nothing")
            elif len(value) > ID_LIMIT or "\0" in value or not is_text(value):
                _limited(value, ID_LIMIT, column, line, name, faults)
        if not criterion and rater == "annotator":
            faults.add(name, line, "criterion", "expected the criterion that was rated, found nothing")
        elif len(criterion) > CRITERION_LIMIT or "\0" in criterion or not is_text(criterion):
            _limited(criterion, CRITERION_LIMIT, "criterion", line, name, faults)
        score = _number(written)
        if score is None:
            faults.add(name, line, "score", f"expected a number, found {_shown(written) if written else 'nothing'}")
        elif faults.total == before:
            yield make(line, doc_id, system, criterion, who, score)

    return read


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    # float() also takes "1_000", "nan" and "inf"; none of them is a score.
    return value if math.isfinite(value) and "_" not in text else None


# Words for messages


def _limited(value: str, limit: int, column: str, line: int, name: str, faults: Faults) -> str:
    if len(value) > limit:
        faults.add(name, line, column, f"{len(value)} characters; the limit is {limit}")
    return _clean(value, column, line, name, faults)


def _clean(value: str, column: str, line: int, name: str, faults: Faults) -> str:
    if "\0" in value:
        faults.add(name, line, column, "holds a NUL character, which no database text can; remove it")
    elif not is_text(value):
        faults.add(name, line, column, "is not valid UTF-8 text; save the file as UTF-8")
    return value


def _shown(value: Any) -> str:
    text = str(value) if not isinstance(value, str) else repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "a text", bool: "true or false", type(None): "nothing"}
    return names.get(type(value), "a number")
