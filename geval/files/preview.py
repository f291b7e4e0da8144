"""Preview a file before it is loaded: its format, columns and their meaning, first rows."""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from geval.files.contents import CUT_CHARACTERS
from geval.files.fields import as_text
from geval.files.mapping import flattened, is_native, kind_of, structure_of
from geval.files.messages import turns_column
from geval.files.opening import open_packed
from geval.files.packed import UNREADABLE, reason_unreadable
from geval.files.parquet import is_parquet, max_decoded_size
from geval.files.questions import UploadAnswer, UploadQuestion, listed
from geval.files.rater_names import KnownNames
from geval.files.recognition import recognise
from geval.files.records import Objects, Table, records_of
from geval.files.rows import FileErrors
from geval.files.sheets import may_be_workbook, unpacked_workbook_size
from geval.statistics.locked_rule import GROUP, groups_of_names
from geval.texts.sentences import shortened
from geval.texts.spelling import storable

ROWS = 50
# More rows are read while they are short, to see which values repeat.
MOST_ROWS = 5000
# The sample stays in memory, and is compared column by column.
MOST_CHARACTERS = 4 * 2**20
MOST_CELLS = 250_000
# Enough to recognise a file by; more would fill the page.
SHOWN_ROWS = 3
SHOWN_CHARACTERS = 200
MOST_COLUMNS = 60
MOST_SHEETS = 20
# Larger files take longer to check than a person waits. Parquet is read faster.
LARGE_BYTES = 10 * 2**20
LARGE_PARQUET_BYTES = 64 * 2**20
# Enough parts of a list to distinguish texts from names and labels.
CUT_PARTS = 50


@dataclass(frozen=True)
class PreviewColumn:
    """A column with its values in the first rows, shortened if they are long; where these are
    empty, `later` is the first value after them."""

    name: str
    guess: str
    values: tuple[str, ...]
    later: str = ""


@dataclass(frozen=True)
class Preview:
    """A file's first rows.

    `structure` names the kind of nested records. `further` is the guess for columns of a wide file
    that are not shown; `questions` must be answered first. `error` says why there is nothing to
    show. `is_large` if it unpacks to more than should be read while a user waits, however small the
    file is. `sheet` is the sheet of a workbook that was read. `remembered` says which columns have
    a meaning that a person chose for a file like this. `named_groups` are the groups that the names
    of documents state, as far as rows were read, where no column does. `notes` are sentences about
    what was recognised.
    """

    format: str
    columns: tuple[PreviewColumn, ...] = ()
    structure: str = ""
    error: str = ""
    is_large: bool = False
    questions: tuple[UploadQuestion, ...] = ()
    further: Mapping[str, str] = field(default_factory=dict)
    sheet: str = ""
    remembered: str = ""
    named_groups: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def guess(self) -> dict[str, str]:
        shown = {column.name: column.guess for column in self.columns if column.guess}
        return shown | dict(self.further)


def preview_file(
    path: Path, name: str, names: KnownNames | None = None, sheet: str = ""
) -> Preview:
    """Preview the first rows of a file of any kind; never raises.

    Args:
        names: names in the project, by which columns are recognised.
        sheet: of a workbook; by default the first that looks like a table, with a question if
            others do as well.
    """
    preview = _preview(path, name, names, sheet)
    return preview if preview.error else replace(preview, is_large=_is_large(path))


def _is_large(path: Path) -> bool:
    try:
        with open_packed(path) as raw:
            if may_be_workbook(raw):
                return unpacked_workbook_size(raw) > LARGE_BYTES
            if is_parquet(raw):
                return max_decoded_size(raw) > LARGE_PARQUET_BYTES
            return len(raw.read(LARGE_BYTES + 1)) > LARGE_BYTES
    except UNREADABLE:  # errors after the first rows are reported when all rows are read
        return False


def _preview(path: Path, name: str, names: KnownNames | None, sheet: str) -> Preview:
    errors = FileErrors(most=1)
    try:
        with open_packed(path) as raw:
            records = records_of(raw, name, errors, sheet)
            if isinstance(records, Table):
                header = records.header
                rows: list[Mapping[str, Any]] = _sample(
                    dict(zip(header, map(_cut, line), strict=True)) for _, line in records.lines
                )
                preview = _of_columns(str(records.format), header, rows, names)
                return _of_sheet(preview, records)
            if isinstance(records, Objects):
                sample = _sample(_cut(record) for _, record in records.lines)
                if sample:
                    return _of_objects(str(records.format), sample, names)
    except UNREADABLE as error:
        return Preview("", error=reason_unreadable(error))
    return Preview("", error=str(errors.listed[0]) if errors.listed else "This file is empty.")


def _of_sheet(preview: Preview, table: Table) -> Preview:
    """Preview a sheet; the question about the sheet comes first."""
    if len(table.sheets) < 2:
        return replace(preview, sheet=table.sheet)
    answers = [
        UploadAnswer(f"“{storable(name)}”", f"columns {storable(listed(header))}", {}, name)
        for name, header in table.sheets.items()
        if storable(name) == name
    ]
    question = UploadQuestion("Which sheet has the data?", tuple(answers[:MOST_SHEETS]))
    return replace(preview, sheet=table.sheet, questions=(question,))


def _sample(rows: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the first rows: some, and more while they are short."""
    sample, characters = [], 0
    for row in itertools.islice(rows, MOST_ROWS):
        sample.append(row)
        characters += sum(len(value) for value in row.values() if isinstance(value, str))
        if len(sample) >= ROWS and (
            characters > MOST_CHARACTERS or len(sample) * len(row) > MOST_CELLS
        ):
            break
    return sample


def _of_objects(
    format_: str, records: list[Mapping[str, Any]], project_names: KnownNames | None
) -> Preview:
    # A file of texts may have conversations in later rows.
    talks = next(filter(turns_column, records), records[0])
    several = _kinds_together(records)
    if structure := structure_of(records[0]) or structure_of(talks) or several:
        names = tuple(dict.fromkeys(name for row in records for name in row))
        return Preview(format_, _columns(names, records, {}), structure)
    rows = [flattened(record) for record in records]
    names = tuple(dict.fromkeys(name for row in rows for name in row))
    return _of_columns(format_, names, rows, project_names)


def _kinds_together(records: Sequence[Mapping[str, Any]]) -> str:
    """Describe a file with several kinds of rows, such as a dataset's outputs and their ratings, if
    each is recognised by its names; empty for rows of one kind."""
    alike: dict[frozenset[str], list[Mapping[str, Any]]] = {}
    for record in records:
        alike.setdefault(frozenset(record), []).append(record)
    kinds: dict[str, None] = {}
    for names, rows in alike.items():
        guess = recognise(sorted(names), [flattened(row) for row in rows], None).columns
        if not guess or not is_native(guess):
            return ""
        kinds[kind_of(guess)] = None
    return ", ".join(kinds) if len(kinds) > 1 and all(kinds) else ""


def _of_columns(
    format_: str,
    names: Sequence[str],
    rows: Sequence[Mapping[str, Any]],
    known_names: KnownNames | None,
) -> Preview:
    # A name that has to be changed for storing could later be confused with others.
    usable = [name for name in names if storable(name) == name]
    recognised = recognise(usable, rows, known_names)
    hidden = {
        name: recognised.columns[name]
        for name in names[MOST_COLUMNS:]
        if name in recognised.columns
    }
    columns = _columns(names, rows, recognised.columns)
    return Preview(
        format_,
        columns,
        questions=recognised.questions,
        further=hidden,
        named_groups=_named_groups(recognised.columns, rows),
        notes=recognised.notes,
    )


def _named_groups(guess: Mapping[str, str], rows: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    by_target = {target: name for name, target in guess.items()}
    if GROUP in by_target or "doc_id" not in by_target:
        return ()
    names = dict.fromkeys(as_text(row.get(by_target["doc_id"])) for row in rows)
    return tuple(dict.fromkeys(groups_of_names(list(names))))


def _columns(
    names: Sequence[str], rows: Sequence[Mapping[str, Any]], guess: Mapping[str, str]
) -> tuple[PreviewColumn, ...]:
    return tuple(
        PreviewColumn(
            storable(name),
            guess.get(name, ""),
            values,
            "" if any(values) else next(filter(None, (_shown(row.get(name)) for row in rows)), ""),
        )
        for name in names[:MOST_COLUMNS]
        for values in [tuple(_shown(row.get(name)) for row in rows[:SHOWN_ROWS])]
    )


def _shown(value: Any) -> str:
    return shortened(storable(as_text(value)), SHOWN_CHARACTERS)


def _cut(value: Any) -> Any:
    """Cut a value to the part that a preview needs: rows could have gigabytes of text."""
    if isinstance(value, str):
        return value[:CUT_CHARACTERS]
    if isinstance(value, list):
        return [_cut(part) for part in value[:CUT_PARTS]]
    if isinstance(value, dict):
        return {name[:CUT_CHARACTERS]: _cut(part) for name, part in value.items()}
    return value
