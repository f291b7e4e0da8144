"""Read plain tables of ratings and scores by column, several times as fast as by row.

Each different cell is read once, by the functions that read rows; what they would report or note,
and any table that is not plain, is left to `readers`.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import repeat
from typing import Any

from geval.files import fields
from geval.files.cells import NUMBERED, cell_of, judges_in, separated_in
from geval.files.limits import file_limits, too_many_columns
from geval.files.mapping import renamed_header
from geval.files.opening import open_packed
from geval.files.packed import PackedError
from geval.files.preference_rows import is_preference
from geval.files.rater_names import is_mean
from geval.files.readers import InputFile
from geval.files.records import DELIMITED, Format, Table, numbered, records_of
from geval.files.rows import FileDefaults, FileErrors, is_text
from geval.files.score_records import BESIDE, SCORE_COLUMNS, as_cell
from geval.files.tools import record_holders
from geval.files.unused import MOST_NAMES
from geval.files.value_summary import SPREADSHEET_LIMIT
from geval.files.word_ratings import HUNDREDS
from geval.statistics.locked_rule import GROUP

# Lines are read in parts, so that a process holds few of them.
PART_CELLS, PART_CHARACTERS = 100_000, 2**20
# Names and numbers that are remembered, as they are repeated.
REMEMBERED = 100_000
METADATA, TEXTS = "metadata.", ("source", "output")
# Where records in memory have a number, its text is not as for ratings.
AS_WRITTEN = ("doc_id", "system_id", "output")
Cells = Sequence[str]
# The criterion, the rater, and whether it is a judge.
Series = tuple[str, str, bool]


class OddError(PackedError):
    """A table is not plain."""

    def __init__(self) -> None:
        super().__init__("is no plain table")


@dataclass(frozen=True)
class ColumnBatch:
    """Some lines of a plain table: the document and the system of each, and the output's text if
    the table has texts; the numbers of each series with their lines; and unused columns."""

    documents: list[str]
    systems: list[str]
    texts: Cells
    numbers: dict[Series, tuple[list[int], list[float]]]
    unused: dict[tuple[str, str], int]


def column_batches(file: InputFile, defaults: FileDefaults) -> Iterator[ColumnBatch]:
    """Yield the lines of a plain table, in parts.

    Raises:
        PackedError: it is none (`OddError`), or damaged; then nothing that was yielded counts.
    """
    errors = FileErrors(most=1, field_limit=file_limits().field_bytes)
    with open_packed(file.path, file.counter) as raw:
        table = records_of(raw, file.name, errors, file.sheet)
        is_delimited = isinstance(table, Table) and table.format in DELIMITED.values()
        if not isinstance(table, Table) or not is_delimited or file.corrections or file.left_out:
            raise OddError
        yield from _batches(table, file, defaults, errors)


def batches_of_records(
    records: Iterable[Mapping[str, Any]], names: Cells, file: InputFile, defaults: FileDefaults
) -> Iterator[ColumnBatch]:
    """Do the same for records in memory, as a file of JSON has them.

    Args:
        names: their fields.
        file: a file of records like these.
    """
    errors = FileErrors(most=1, field_limit=file_limits().field_bytes)
    scored = {name for name, target in file.columns.items() if cell_of(target)}
    others = set() if file.columns else {*names} - {*SCORE_COLUMNS, "annotator", "judge"}
    are_texts = all(isinstance(name, str) and is_text(name) for name in names)
    are_held = not record_holders().isdisjoint(names)
    if others or not are_texts or are_held or too_many_columns(len(names)):
        raise OddError
    # Records have columns in the order of their meanings, after those without one.
    places = {name: place for place, name in enumerate(file.columns)}
    header = sorted(names, key=lambda name: places.get(name, -1))
    written = [name for name in names if file.columns.get(name) in AS_WRITTEN]

    def lines() -> Iterator[tuple[int, list[str]]]:
        for number, record in enumerate(records, start=1):
            if len(record) < len(names) and scored.isdisjoint(record):
                raise OddError  # without a number it is another kind of record
            cells = [_as_cell(record.get(name)) for name in header]
            is_long = sum(map(len, cells)) > errors.field_limit // 8  # as JSON, with escapes
            if is_long or float in map(type, map(record.get, written)):
                raise OddError
            yield number, cells

    yield from _batches(Table(Format.JSONL, tuple(header), 0, lines()), file, defaults, errors)


def _as_cell(value: Any) -> str:
    """Return what a table has in place of a value of JSON."""
    kind = type(value)
    is_plain = is_text(value) if kind is str else value is None or kind is float
    if not is_plain and not (kind is int and abs(value) < 2**53):
        raise OddError
    return as_cell(value)


def _batches(
    table: Table, file: InputFile, defaults: FileDefaults, errors: FileErrors
) -> Iterator[ColumnBatch]:
    columns = _Columns((*table.header, *file.added), file, defaults, errors)
    part: list[Cells] = []
    most, characters = max(1, PART_CELLS // len(table.header)), 0
    for number, (_line, values) in enumerate(table.lines, start=1):
        part.append([*values, *numbered(file.added, number).values()] if file.added else values)
        characters += sum(map(len, values))
        if len(part) >= most or characters > PART_CHARACTERS:
            yield columns.read(part)
            part, characters = [], 0
    if part:
        yield columns.read(part)
    columns.check()


class _Columns:
    """The columns of a table by their meanings; raises OddError where it is not plain."""

    def __init__(
        self, own: Cells, file: InputFile, defaults: FileDefaults, errors: FileErrors
    ) -> None:
        self.file, self.errors, self.defaults = file.name, errors, defaults
        self.place, self.judges = fields.Place(file.name, 0, errors), judges_in(file.columns)
        # Numbers such as "1.000", and whole numbers above 100, beside which they are unclear.
        self.has_thousands = self.has_hundreds = False
        self.name = lru_cache(REMEMBERED)(self._name)
        self.number = lru_cache(REMEMBERED)(self._number)
        self.series = lru_cache(REMEMBERED)(self._series)
        header = renamed_header(own, file.columns) if file.columns else tuple(own)
        self.at = {name: index for index, name in enumerate(header)}
        self.rater = next((name for name in ("annotator", "judge") if name in header), "")
        self.is_long = bool(self.rater) and "output" not in header and "score" in header
        if separated_in(file.columns):
            raise OddError
        self.wide: dict[str, Series] = {}
        self.texts: frozenset[str] = frozenset()
        if self.is_long:
            used = {*SCORE_COLUMNS, self.rater}
            odd = self.at.keys() & {fields.SESSION, GROUP, fields.REPEAT, *BESIDE}
        else:
            for name in header:
                cell = cell_of(name)
                if cell is not None and cell.criterion and cell.rater != NUMBERED:
                    who = cell.rater or (defaults.judge if cell.by_judge else defaults.annotator)
                    self.wide[name] = self.series(cell.criterion, who, cell.by_judge)
            texts = frozenset(name for name in header if name in TEXTS or self._is_label(name))
            left_out = (name for name, theirs in zip(header, own, strict=True)
                        if file.columns and theirs not in file.columns)  # fmt: skip
            used = {"doc_id", "system_id", *self.wide}
            odd = self.at.keys() - used - texts - {*left_out}
            if "output" in header:
                self.texts = texts
                used |= texts | {"source"}
            elif file.added:
                odd |= texts
        self.unused = [(index, own[index]) for name, index in self.at.items() if name not in used]
        is_whole = len(self.at) == len(header) and used <= self.at.keys()
        is_single = len({*self.wide.values()}) == len(self.wide)  # two may look the same
        ordered = [target for target in file.columns.values() if target in self.wide]
        is_turned = bool(file.added) and ordered != [*self.wide]
        is_odd = bool(odd) or is_turned or is_preference(header) or len(self.unused) > MOST_NAMES
        if is_odd or not (is_whole and is_single and (self.is_long or self.wide)):
            raise OddError

    def check(self) -> None:
        """Refuse what readers report."""
        if self.errors.total or (self.has_thousands and self.has_hundreds):
            raise OddError

    def read(self, lines: Sequence[Cells]) -> ColumnBatch:
        columns = list(zip(*lines, strict=True))
        cells = {name: columns[index] for name, index in self.at.items()}
        scored: list[tuple[Iterable[Series], Cells]]
        scored = [(repeat(series), cells[name]) for name, series in self.wide.items()]
        if self.is_long:
            whose = (cells["criterion"], cells[self.rater], repeat(self.rater == "judge"))
            scored = [(map(self.series, *whose), cells["score"])]
        numbers: defaultdict[Series, tuple[list[int], list[float]]] = defaultdict(lambda: ([], []))
        for of, written in scored:
            for line, (one, number) in enumerate(zip(of, map(self.number, written), strict=False)):
                if number is not None:
                    at, values = numbers[one]
                    at.append(line)
                    values.append(number)
        for name in self.texts:
            self._check_texts(name, cells[name])
        self._count_unused(columns)
        self.check()
        documents, systems = ([*map(self.name, cells[name])] for name in ("doc_id", "system_id"))
        texts = cells["output"] if self.texts else ()
        return ColumnBatch(documents, systems, texts, dict(numbers), self.errors.unused.drain())

    def _name(self, cell: str, limit: int = fields.ID_LIMIT) -> str:
        name = self.place.name(cell.strip(), "", limit)
        self.check()
        if not name:
            raise OddError
        return name

    def _series(self, criterion: str, rater: str, by_judge: bool) -> Series:
        who = self.name(rater)
        if is_mean(who) or not (by_judge or criterion.strip()):
            raise OddError
        about = self.name(criterion, fields.CRITERION_LIMIT) if criterion.strip() else ""
        return about, who, by_judge or who in self.judges

    def _number(self, cell: str) -> float | None:
        if fields.is_missing(cell):
            if fields.is_not_applicable(cell):
                raise OddError
            return None
        number, word = fields.number_or_word(cell) or (math.nan, "")
        if fields.THOUSANDS.fullmatch(word):
            self.has_thousands, number = True, fields.written_number(word) or math.nan
        elif number > HUNDREDS and number.is_integer():
            self.has_hundreds = True
        if math.isnan(number):
            raise OddError
        return number

    def _is_label(self, name: str) -> bool:
        """Return whether a column has metadata, but not the group."""
        return name.startswith(METADATA) and self.name(name.removeprefix(METADATA)) != GROUP

    def _check_texts(self, name: str, cells: Cells) -> None:
        lengths, joined = {*map(len, cells)}, "".join(cells)
        longest = self.errors.field_limit if name in TEXTS else fields.METADATA_LIMIT
        has_gaps = name in TEXTS and not all(map(str.strip, cells) if name == "source" else cells)
        is_cut = SPREADSHEET_LIMIT in lengths
        if has_gaps or is_cut or max(lengths) > longest or "\0" in joined or not is_text(joined):
            raise OddError

    def _count_unused(self, columns: Sequence[Cells]) -> None:
        counts = []
        for index, name in self.unused:
            filled = [bool(cell.strip()) for cell in columns[index]]
            if any(filled):
                counts.append((filled.index(True), index, name, sum(filled)))
        for _first, _index, name, count in sorted(counts):
            self.errors.unused.add(self.file, name, count)
