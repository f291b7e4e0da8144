"""Load the rows that can be loaded, and keep the others aside with the reasons."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from evaluations.corpus.apart import records_apart
from evaluations.corpus.results import LoadResult
from evaluations.corpus.store import load_files
from evaluations.models import Project
from geval.files.readers import InputFile
from geval.files.rows import FileError, LoadError, LoadOptions
from geval.texts.plain import storable
from geval.texts.spreadsheets import csv_line

# Without a refused output its ratings are refused as well, and so on: it ends soon, or never.
MOST_ROUNDS = 5
MOST_REFUSED = 10_000
# Longer cells are corrected in the file.
LONGEST_CELL = 2000


@dataclass(frozen=True)
class RefusedRow:
    """A row that was left out: its cells as in the file, and why."""

    file: str
    line: int
    cells: dict[str, str]
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class RestLoaded:
    result: LoadResult
    refused: list[RefusedRow]


def load_rest(
    project: Project,
    files: Sequence[InputFile],
    *,
    about: LoadOptions,
    rehearse: bool,
    leave_out: bool,
    watch: Callable[[str], None] = lambda _step: None,
    most_errors: int = 100,
) -> RestLoaded:
    """Load files; with `leave_out` without the rows that have errors.

    Raises:
        LoadError: there are errors, and they are not to be left out or are not errors of rows.
    """
    refused: list[RefusedRow] = []
    for _ in range(MOST_ROUNDS if leave_out else 0):
        try:
            result = load_files(
                project,
                files,
                about=about,
                rehearse=rehearse,
                most_errors=MOST_REFUSED,
                watch=watch,
            )
        except LoadError as error:
            if error.total > len(error.errors) or not all(one.line for one in error.errors):
                raise
            refused += refused_rows(files, error.errors)
            files = [_without(file, error.errors) for file in files]
        else:
            return RestLoaded(result, refused)
    result = load_files(
        project, files, about=about, rehearse=rehearse, most_errors=most_errors, watch=watch
    )
    return RestLoaded(result, refused)


def refused_rows(files: Sequence[InputFile], errors: Iterable[FileError]) -> list[RefusedRow]:
    """The rows with these errors, read again from their files."""
    reasons: dict[tuple[str, int], list[str]] = {}
    for error in errors:
        said = f"{error.column}: {error.message}" if error.column else error.message
        reasons.setdefault((error.file, error.line), []).append(said)
    rows = []
    for file in files:
        lines = frozenset(line for name, line in reasons if name == file.name)
        found = records_apart(file, lines) if lines else {}
        rows += [
            RefusedRow(
                file.name,
                line,
                {storable(name): storable(cell) for name, cell in found.get(line, {}).items()},
                tuple(reasons[file.name, line]),
            )
            for line in sorted(lines)
        ]
    return rows


def with_cells(
    files: Sequence[InputFile], errors: Sequence[FileError], *, most: int
) -> list[FileError]:
    """Errors with the cells that they are in, for the first ones."""
    cells = {
        file.name: records_apart(file, lines)
        for file in files
        if (lines := frozenset(e.line for e in errors[:most] if e.file == file.name and e.line))
    }

    def of(error: FileError) -> str | None:
        found = cells.get(error.file, {}).get(error.line, {}).get(error.column)
        return storable(found) if found is not None and len(found) <= LONGEST_CELL else None

    return [replace(error, value=of(error)) for error in errors[:most]] + list(errors[most:])


def refused_csv(rows: Sequence[RefusedRow]) -> str:
    """The rows as CSV, with their file, line and the reasons; corrected, it can be loaded."""
    columns = list(dict.fromkeys(name for row in rows for name in row.cells))
    lines = [csv_line([*columns, "file", "line", "error"])]
    for row in rows:
        cells = [row.cells.get(name, "") for name in columns]
        lines.append(csv_line([*cells, row.file, row.line, "; ".join(row.reasons)]))
    return "".join(lines)


def _without(file: InputFile, errors: Iterable[FileError]) -> InputFile:
    lines = {error.line for error in errors if error.file == file.name}
    return replace(file, left_out=file.left_out | lines)
