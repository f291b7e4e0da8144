"""Turn tables into files, so that data in a notebook is read like an upload."""

import csv
import json
import math
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import Any

from geval.files.columns import ColumnBatch, batches_of_records
from geval.files.readers import InputFile
from geval.files.rows import FileDefaults

# Sources for `measure` and similar functions: paths, data frames of pandas or polars, Arrow tables,
# records.
Source = Any
TABLE_NAME = "table"
# Larger floats do not represent single integers.
LARGEST_WHOLE = 2**53
LONGEST_PATH = 300
# Where a path is expected, `example:support` is one of these.
EXAMPLE, EXAMPLES = "example:", Path(__file__).parents[1] / "examples"
# Rows of a table by which it is recognised, as those of a file.
SAMPLE = 5000


class InputError(ValueError):
    """The input cannot be read; the message says what, where, and what to pass."""


@dataclass(frozen=True)
class TableInput(InputFile):
    """A table in memory; its file has the first rows alone, unless all are written."""

    records: Sequence[Mapping[str, Any]] = ()

    def __reduce__(self) -> tuple[Any, ...]:
        """Give another process the file alone."""
        return InputFile, tuple(getattr(self, each.name) for each in fields(InputFile))

    def batches(self, defaults: FileDefaults) -> Iterator[ColumnBatch]:
        """Yield its lines by column. See `columns.batches_of_records`."""
        names = list(dict.fromkeys(chain.from_iterable(self.records)))
        plain = (_plain(record) for record in self.records)
        return batches_of_records(plain, names, self, defaults)

    def write_all(self) -> None:
        _write(self.path, self.records)


def _write(path: Path, records: Iterable[Mapping[str, Any]]) -> None:
    with path.open("w", encoding="utf-8") as lines:
        for number, record in enumerate(records, start=1):
            lines.write(f"{_as_json(record, number)}\n")


def side_by_side(people: Source, judge: Source) -> list[dict[str, Any]]:
    """Return the table of one person's ratings and a judge's scores of the same outputs.

    Raises:
        InputError: they are no two lists, arrays or series of one length.
    """
    columns = [_values_of(each) for each in (people, judge)]
    if len(columns[0]) != len(columns[1]):
        raise InputError(
            f"There are {len(columns[0]):,} ratings and {len(columns[1]):,} scores; pass one of"
            " each for each output, in the same order."
        )
    return [dict(zip(("human", "judge"), row, strict=True)) for row in zip(*columns, strict=True)]


def _values_of(column: Source) -> list[Any]:
    values = column.tolist() if hasattr(column, "tolist") else column
    is_many = isinstance(values, Iterable) and not isinstance(values, str | bytes | Mapping)
    listed = list(values) if is_many and not hasattr(values, "columns") else None
    if listed is None or any(isinstance(value, Mapping | list | tuple) for value in listed):
        raise InputError(
            f"{type(column).__name__} is no list of values. Pass people's ratings and the judge's"
            " scores as two lists, arrays or series, or one table."
        )
    return listed


@contextmanager
def input_files(source: Source, *, sheet: str = "") -> Iterator[list[InputFile]]:
    """Provide the files of a source; of a table the first rows are written to a temporary file.

    Args:
        sheet: the sheet of workbooks, by default the first that looks like a table.

    Raises:
        InputError: there is no such file, or the source contains no table.
    """
    if paths := _paths_of(source):
        for path in paths:
            if not _is_file(path):
                raise InputError(f"There is no file {str(path)[:LONGEST_PATH]}.")
        yield [InputFile(path, path.name, sheet=sheet) for path in paths]
        return
    with tempfile.TemporaryDirectory(prefix="geval-") as folder:
        records = list(records_of_table(source))
        if not records:
            raise InputError("The table has no rows.")
        path = Path(folder) / "table.jsonl"
        _write(path, records[:SAMPLE])
        yield [TableInput(path, TABLE_NAME, records=records)]


def load_example(name: str = "summaries") -> list[dict[str, str]]:
    """Return the rows of an example: `summaries` rated from 1 to 5 by three people and a judge, or
    `support`, answers that one expert and a judge passed or failed. Both are invented.

    Raises:
        InputError: there is no such example.

    >>> len(load_example("support")), sorted(load_example("support")[0])
    (240, ['answer', 'human', 'id', 'judge', 'question'])
    """
    with _example(name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _example(name: str) -> Path:
    path = EXAMPLES / f"{name}.csv"
    names = sorted(each.stem for each in EXAMPLES.glob("*.csv"))
    if name not in names:
        raise InputError(f"There is no example {name[:40]!r} (there are: {', '.join(names)}).")
    return path


def _path_of(source: str | PathLike[str]) -> Path:
    """Return the path of a file, or of an example, as in `example:support`."""
    text = str(source)
    return _example(text.removeprefix(EXAMPLE)) if text.startswith(EXAMPLE) else Path(source)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # the name is too long, or holds NUL
        return False


def _as_json(record: Mapping[str, Any], number: int) -> str:
    try:
        text = json.dumps(_plain(record), ensure_ascii=False, default=str)
        text.encode()
    except (TypeError, ValueError, RecursionError) as error:
        why = f"{type(error).__name__}: {error}"
        raise InputError(
            f"{TABLE_NAME}:{number}: the row cannot be written as JSON ({why})"
        ) from None
    return text


def _paths_of(source: Source) -> list[Path]:
    if isinstance(source, str | PathLike):
        return [_path_of(source)]
    is_list = isinstance(source, Sequence) and not isinstance(source, bytes) and bool(source)
    if is_list and all(isinstance(path, str | PathLike) for path in source):
        return [_path_of(path) for path in source]
    return []


def records_of_table(source: Source) -> Iterable[Mapping[str, Any]]:
    """Return the rows of a table, each by the names of its columns.

    Raises:
        InputError: it is not a supported table.
    """
    if hasattr(source, "to_dicts"):  # polars
        return source.to_dicts()  # type: ignore[no-any-return]
    if hasattr(source, "to_pylist"):  # Arrow
        return source.to_pylist()  # type: ignore[no-any-return]
    if hasattr(source, "to_dict") and hasattr(source, "columns"):  # pandas
        return source.to_dict("records")  # type: ignore[no-any-return]
    if isinstance(source, Iterable) and not isinstance(source, Mapping | bytes):
        records = list(source)
        if all(isinstance(record, Mapping) for record in records):
            return records
    raise InputError(
        f"{type(source).__name__} is no table. Pass a file, a data frame of pandas or polars, an"
        " Arrow table, or a list of dictionaries."
    )


def _plain(record: Mapping[str, Any]) -> dict[str, Any]:
    """Convert a record to JSON types; missing values are left out."""
    return {str(name): _whole(value) for name, value in record.items() if not _is_missing(value)}


def _whole(value: Any) -> Any:
    """Return a float without a fraction as an integer: pandas has 3.0 for 3 in a column of whole
    numbers with missing cells, and names may be numbers. Infinity becomes a text, as JSON cannot
    write it and errors then name its row and column."""
    if isinstance(value, float) and math.isinf(value):
        return str(value)
    is_whole = isinstance(value, float) and value.is_integer() and abs(value) < LARGEST_WHOLE
    return int(value) if is_whole else value


def _is_missing(value: Any) -> bool:
    """Return whether a cell is empty: None, NaN, or NA in pandas' columns of booleans."""
    is_nan = isinstance(value, float) and math.isnan(value)
    return value is None or is_nan or type(value).__name__ == "NAType"
