"""Turn tables into files, so that data in a notebook is read like an upload."""

import csv
import json
import math
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from itertools import chain, islice
from os import PathLike
from pathlib import Path
from typing import Any

from geval.files.columns import ColumnBatch, batches_of_records
from geval.files.readers import LOOKED_AT, InputFile
from geval.files.rows import FileDefaults

# Sources for `measure` and similar functions: paths; data frames of pandas or polars, also lazy,
# Arrow tables, records, several frames, columns by name.
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


def named_columns(source: Source, /, **columns: Any) -> tuple[Source, dict[str, tuple[str, ...]]]:
    """Return a source that has all columns, and their names by role, as texts.

    Args:
        columns: for each role, such as `human`, the name of a column or several (numbers, too); or
            values in the order of the source's rows, as a series, array or list. A series keeps
            its name, and takes the place of a column of that name.

    Raises:
        InputError: values are not one for each row, or have another index; or the source is no
            table to which they could be added.
    """
    names: dict[str, tuple[str, ...]] = {}
    records: list[dict[str, Any]] | None = None
    for role, given in columns.items():
        if not _may_be_values(given):
            names[role] = as_names(given)
            continue
        if records is None:
            _refuse_other_indexes(source, *filter(_may_be_values, columns.values()))
            records = [] if _paths_of(source) else [*map(dict, records_of_table(source))]
        values = _values_of(given)
        if {*map(str, values)} <= {str(name) for name in (records[0] if records else ())}:
            names[role] = as_names(values)
            continue
        if len(values) != len(records):
            raise InputError(
                f"{role}= has {len(values):,} values for {len(records):,} rows of a table; pass one"
                " for each row, or names of columns."
            )
        name = str(getattr(given, "name", None) or role)
        taken = {own for other in names.values() for own in other}
        names[role] = (role if name in taken else name,)
        for record, value in zip(records, values, strict=True):
            record[names[role][0]] = value
    return source if records is None else records, names


def as_names(names: Any) -> tuple[str, ...]:
    """Return one name of a column or several, which may be numbers, as texts."""
    if names is None or names == "":
        return ()
    is_single = isinstance(names, str) or not isinstance(names, Iterable)
    return (str(names),) if is_single else tuple(map(str, names))


def _may_be_values(given: Any) -> bool:
    """Return whether this is an array or series, or a list in which something is no name, such as
    a text or, of columns of several levels, a tuple."""
    if hasattr(given, "columns") or isinstance(given, str):
        return False
    is_list = isinstance(given, list | tuple)
    return hasattr(given, "dtype") or (
        is_list and not all(isinstance(value, str | tuple) for value in given)
    )


def _refuse_other_indexes(*tables: Any) -> None:
    """Refuse series or frames of pandas with different indexes, whose rows are not in one order."""
    indexes = [each.index for each in tables if hasattr(getattr(each, "index", None), "equals")]
    if not all(index.equals(indexes[0]) for index in indexes):
        raise InputError(
            "These have different indexes, so it is unclear which values belong together. Align"
            " them first, as with frame.reindex(other.index), or pass them without an index, as"
            " with series.tolist()."
        )


def side_by_side(people: Source, judge: Source) -> list[dict[str, Any]]:
    """Return the table of one person's ratings and a judge's scores of the same outputs.

    Raises:
        InputError: they are no two lists, arrays or series of one length.
    """
    columns = [_values_of(each) for each in (people, judge)]
    _refuse_other_indexes(people, judge)
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
        _write(path, _sample_of(records))
        yield [TableInput(path, TABLE_NAME, records=records)]


def _sample_of(records: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the first rows; before them some of the later ones that have other columns, as the
    second of two frames: names are taken from the first rows of a file."""
    names = {*chain.from_iterable(records[:LOOKED_AT])}
    later = (record for record in records[LOOKED_AT:] if not names.issuperset(record))
    return [*islice(later, LOOKED_AT // 2), *records[:SAMPLE]]


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
    """Return the rows of a table, each by the names of its columns; of several frames, those of
    one after the other.

    Raises:
        InputError: it is not a supported table.
    """
    if type(source).__name__ == "LazyFrame":
        source = source.collect()
    if hasattr(source, "to_dicts"):  # polars
        return source.to_dicts()  # type: ignore[no-any-return]
    if hasattr(source, "to_pylist"):  # Arrow
        return source.to_pylist()  # type: ignore[no-any-return]
    if hasattr(source, "to_dict") and hasattr(source, "columns"):  # pandas
        return _with_index(source).to_dict("records")  # type: ignore[no-any-return]
    if isinstance(source, Mapping) and source and all(map(_is_column, source.values())):
        return _records_of_columns(source)
    if isinstance(source, Iterable) and not isinstance(source, Mapping | bytes):
        records = list(source)
        if all(isinstance(record, Mapping) for record in records):
            return records
        if all(map(_is_frame, records)):
            return [record for frame in records for record in records_of_table(frame)]
    raise InputError(
        f"{type(source).__name__} is no table. Pass a file, a data frame of pandas or polars, an"
        " Arrow table, a list of dictionaries or of frames, or a dictionary of columns."
    )


def _is_frame(source: Source) -> bool:
    return type(source).__name__ == "LazyFrame" or hasattr(source, "columns")


def _with_index(frame: Any) -> Any:
    """Return a frame of pandas whose named indexes are columns, and whose columns' names are texts.

    Raises:
        InputError: two columns have one name.
    """
    names = [name for name in frame.index.names if name is not None and name not in frame.columns]
    frame = frame.reset_index(names)
    columns = [str(name) for name in frame.columns]
    if twice := [name for name, count in Counter(columns).items() if count > 1]:
        raise InputError(f"Several columns are named {twice[0]!r}; rename all but one.")
    return frame.set_axis(columns, axis="columns")


def _is_column(values: Any) -> bool:
    return isinstance(values, Iterable) and not isinstance(values, str | bytes | Mapping)


def _records_of_columns(table: Mapping[Any, Source]) -> list[dict[str, Any]]:
    _refuse_other_indexes(*table.values())
    columns = {str(name): _values_of(values) for name, values in table.items()}
    lengths = {name: len(values) for name, values in columns.items()}
    if len({*lengths.values()}) > 1:
        counts = ", ".join(f"{name} {length:,}" for name, length in lengths.items())
        raise InputError(f"The columns have different numbers of values: {counts}.")
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


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
