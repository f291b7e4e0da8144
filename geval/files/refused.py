"""Refused parts of files, with the reasons: rows, or only cells of ratings; and files without
them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from geval.files.apart import records_apart
from geval.files.mapping import cell_column
from geval.files.readers import InputFile
from geval.files.rows import FileError
from geval.texts.spelling import storable
from geval.texts.spreadsheets import csv_line

# Longer cells are corrected in the file.
LONGEST_CELL = 2000


@dataclass(frozen=True)
class RefusedRow:
    """A refused row, or only its refused cells in some `columns`: all cells as in the file, and
    why."""

    file: str
    line: int
    cells: dict[str, str]
    reasons: tuple[str, ...]
    columns: tuple[str, ...] = ()


def refused_rows(files: Sequence[InputFile], errors: Iterable[FileError]) -> list[RefusedRow]:
    """Return the rows with these errors, read again from their files."""
    by_line: dict[tuple[str, int], list[FileError]] = {}
    for error in errors:
        by_line.setdefault((error.file, error.line), []).append(error)
    rows = []
    for file in files:
        lines = frozenset(line for name, line in by_line if name == file.name)
        records = records_apart(file, lines) if lines else {}
        for line in sorted(lines):
            of_line = by_line[file.name, line]
            cells = {storable(name): storable(cell) for name, cell in records.get(line, {}).items()}
            reasons = dict.fromkeys(
                f"{error.column}: {error.message}" if error.column else error.message
                for error in of_line
            )
            columns = tuple(dict.fromkeys(error.column for error in of_line))
            only_cells = all(_is_of_rating(file, column) for column in columns)
            rows.append(
                RefusedRow(file.name, line, cells, tuple(reasons), columns if only_cells else ())
            )
    return rows


def describe_refused(cells: int, rows: int) -> str:
    """Describe how much was left out; empty if nothing was."""
    counts = ((cells, "cell"), (rows, "row"))
    parts = [f"{count:,} {word}{'s' if count != 1 else ''}" for count, word in counts if count]
    return " and ".join(parts) + " with errors" if parts else ""


def with_cells(
    files: Sequence[InputFile], errors: Sequence[FileError], *, most: int
) -> list[FileError]:
    """Add the cells in which they occur to the first errors."""
    cells = {
        file.name: records_apart(file, lines)
        for file in files
        if (lines := frozenset(e.line for e in errors[:most] if e.file == file.name and e.line))
    }

    def of(error: FileError) -> str | None:
        cell = cells.get(error.file, {}).get(error.line, {}).get(error.column)
        return storable(cell) if cell is not None and len(cell) <= LONGEST_CELL else None

    return [replace(error, value=of(error)) for error in errors[:most]] + list(errors[most:])


def refused_csv(rows: Sequence[RefusedRow]) -> str:
    """Return the rows as CSV, with their file, line and the reasons; corrected, it can be
    loaded."""
    columns = list(dict.fromkeys(name for row in rows for name in row.cells))
    lines = [csv_line([*columns, "file", "line", "error"])]
    for row in rows:
        cells = [row.cells.get(name, "") for name in columns]
        lines.append(csv_line([*cells, row.file, row.line, "; ".join(row.reasons)]))
    return "".join(lines)


def _is_of_rating(file: InputFile, column: str) -> bool:
    """Return whether a column has one rating or score per cell, so that a row can do without it."""
    columns = file.columns or file.named
    target = columns.get(column, "ratings" if column.startswith("ratings.") else column)
    return cell_column(column, target) is not None


def without_errors(file: InputFile, errors: Sequence[FileError]) -> InputFile:
    """Return a file without the cells or lines with these errors."""
    cells: dict[int, dict[str, str]] = {}
    lines = set()
    for error in errors:
        if error.file != file.name:
            continue
        if _is_of_rating(file, error.column):
            cells.setdefault(error.line, {})[error.column] = ""
        else:
            lines.add(error.line)
    return without(file, cells, lines)


def without(
    file: InputFile, cells: Mapping[int, Mapping[str, str]], lines: Iterable[int]
) -> InputFile:
    """Return a file with some cells replaced, by line and column, and some lines left out."""
    corrections = {line: dict(corrected) for line, corrected in file.corrections.items()}
    for line, replaced in cells.items():
        corrections.setdefault(line, {}).update(replaced)
    return replace(file, corrections=corrections, left_out=file.left_out | set(lines))
