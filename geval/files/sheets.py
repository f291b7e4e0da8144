"""Read workbooks (.xlsx, .ods): the cells of one sheet as a table of texts.

A workbook is a zip of XML, so a few kilobytes can unpack to gigabytes: all of it is unpacked once
and counted before a library reads it.
"""

import datetime
import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, islice
from typing import IO, Any
from xml.etree import ElementTree

from python_calamine import CalamineError, CalamineWorkbook, SheetTypeEnum, SheetVisibleEnum

from geval.files.limits import file_limits, too_many_columns
from geval.files.packed import ZIP, PackedError, check_unpacked, unpacked_file
from geval.texts.numbers import counted

# The signature of old workbooks, and of new ones with a password.
OLD_WORKBOOK = b"\xd0\xcf\x11\xe0"
# A cell (without its end) with a formula that a program wrote without computing it.
_UNSAVED = re.compile(rb'<c(?![^<>]* t="str")[^<>]*><f[^<>]*(?:/>|>[^<]*</f>)(?:<v ?/>|<v></v>)?$')
# Titles and notes may precede the header.
MOST_ROWS_ABOVE = 20
MOST_OF_CELL = 2**16
NO_TABLE = "has no sheet with a header and rows under it; put one table on a sheet"
_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_CELLS = (f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell")


@dataclass(frozen=True)
class Merged:
    """Merged cells: first and last row and column, from 0."""

    top: int
    left: int
    bottom: int
    right: int


@dataclass(frozen=True)
class SheetTable:
    """A sheet's header and the rows under it, with their numbers in the sheet, from 1.

    `sheets` are the headers of all sheets that look like tables, in the workbook's order, and
    `unread` the numbers of rows of the others that hold something.
    """

    sheet: str
    sheets: Mapping[str, tuple[str, ...]]
    header: tuple[str, ...]
    header_line: int
    lines: Iterator[tuple[int, list[str]]]
    unread: Mapping[str, int]


def is_workbook(archive: zipfile.ZipFile) -> bool:
    """Return whether a zip is an Excel or OpenDocument workbook."""
    names = set(archive.namelist())
    is_excel = "[Content_Types].xml" in names and any(name.startswith("xl/") for name in names)
    return is_excel or {"mimetype", "content.xml"} <= names


def may_be_workbook(stream: Any) -> bool:
    """Return whether an unpacked stream at its beginning is a zip, or a workbook of an old kind."""
    return bool(stream.peek(4)[:4] in (ZIP, OLD_WORKBOOK))


def unpacked_workbook_size(stream: IO[bytes]) -> int:
    """Return how many bytes a workbook unpacks to, as stated in it."""
    with unpacked_file(stream) as file:
        if not zipfile.is_zipfile(file):
            return 0
        with zipfile.ZipFile(file) as archive:
            return sum(info.file_size for info in archive.infolist())


def read_sheet(stream: IO[bytes], sheet: str) -> SheetTable:
    """Read a sheet of a workbook as a table; by default the first that looks like one.

    A formula's cell has its stored value; each part of a merged cell has the value of the whole;
    dates are written as 2026-03-01.

    Raises:
        PackedError: there is no such sheet, or none like a table; it is too large; it cannot be
            read.
    """
    with unpacked_file(stream) as file:
        if file.read(4) == OLD_WORKBOOK:
            raise PackedError(
                "is a workbook of an old kind (.xls), or has a password; save it as .xlsx without"
                " a password"
            )
        file.seek(0)
        with zipfile.ZipFile(file) as archive:
            if not is_workbook(archive):
                raise PackedError("is a zip within another file; upload the files in it")
            _check_members(archive)
            try:
                return _read_sheet(CalamineWorkbook.from_path(file.name), archive, sheet)
            except CalamineError as error:
                reason = str(error).split("\n")[0][:200]
                raise PackedError(
                    f"the workbook cannot be read ({reason}); save it again"
                ) from None


def _check_members(archive: zipfile.ZipFile) -> None:
    """Refuse a workbook that unpacks to too much, whatever size it states, or lacks the values of
    formulas."""
    check_unpacked(sum(info.file_size for info in archive.infolist()))
    size = unsaved = 0
    for info in archive.infolist():
        rest = b""
        with archive.open(info) as member:
            while piece := member.read(2**20):
                size += len(piece)
                check_unpacked(size)
                *cells, rest = (rest[-MOST_OF_CELL:] + piece).split(b"</c>")
                unsaved += sum(b"<f" in cell and bool(_UNSAVED.search(cell)) for cell in cells)
    if unsaved:
        raise PackedError(
            f"has {counted(unsaved, 'formula')} without a saved value; open it in a spreadsheet"
            " program and save it"
        )


def _read_sheet(workbook: CalamineWorkbook, archive: zipfile.ZipFile, wanted: str) -> SheetTable:
    names = [
        sheet.name
        for sheet in workbook.sheets_metadata
        if sheet.typ == SheetTypeEnum.WorkSheet and sheet.visible == SheetVisibleEnum.Visible
    ]
    if wanted and wanted not in names:
        raise PackedError(f"has no sheet “{wanted}”; its sheets are {', '.join(names)}")
    tables = {
        name: table
        for name in ([wanted] if wanted else names)
        if (table := _SheetCells(workbook, archive, name).table()) is not None
    }
    if not tables:
        raise PackedError(NO_TABLE)
    name, (header, line, lines) = next(iter(tables.items()))
    headers = {other: table[0] for other, table in tables.items()}
    others = (workbook.get_sheet_by_name(other) for other in workbook.sheet_names if other != name)
    unread = {other.name: other.height for other in others if other.height}
    return SheetTable(name, headers, header, line, lines, unread)


class _SheetCells:
    """The cells of one sheet; only those in use are read."""

    def __init__(self, workbook: CalamineWorkbook, archive: zipfile.ZipFile, name: str) -> None:
        self.cells = workbook.get_sheet_by_name(name)
        self.top, self.left = self.cells.start or (0, 0)
        if self.cells.height > file_limits().rows:
            raise PackedError(
                f"has {self.cells.height:,} rows on the sheet {name}; the limit is"
                f" {file_limits().rows:,} (GEVAL_ROW_LIMIT); split it"
            )
        if reason := too_many_columns(self.cells.width):
            raise PackedError(reason)
        ranges = self.cells.merged_cell_ranges
        self.merged = (
            list(_merged_in_document(archive, name))
            if ranges is None
            else [Merged(*first, *last) for first, last in ranges]
        )

    def table(self) -> tuple[tuple[str, ...], int, Iterator[tuple[int, list[str]]]] | None:
        """Return the header, its line and the rows under it; None if it is not a table."""
        above = list(islice(self._plain_rows(), MOST_ROWS_ABOVE))
        widest = max((_filled(row) for _, row in above), default=0)
        index = next(
            (n for n, (_, row) in enumerate(above) if 2 * _filled(row) >= widest > 1), None
        )
        if index is None:
            return None
        rows = islice(self._rows(), index, None)
        line, header = next(rows, (0, []))
        if self._has_groups(line - 1) and (names := next(rows, None)) is not None:
            line, header = names[0], list(map(_grouped, header, names[1]))
        first = next(rows, None)
        if first is None:
            return None
        named = tuple(name or f"column {_letter(self.left + n)}" for n, name in enumerate(header))
        return named, line, chain([first], rows)

    def _plain_rows(self) -> Iterator[tuple[int, list[str]]]:
        # The library omits the columns before the first used cell, but not the rows.
        for number, row in enumerate(self.cells.iter_rows(), start=1):
            if number > self.top:
                yield number, [_text(value) for value in row]

    def _has_groups(self, row: int) -> bool:
        """Return whether a header row has names for groups of columns, with their own names
        below."""
        return any(
            cell.top == cell.bottom == row and cell.right > cell.left for cell in self.merged
        )

    def _rows(self) -> Iterator[tuple[int, list[str]]]:
        """Return all rows, with the value of merged cells in each part."""
        waiting = sorted(self.merged, key=lambda merged: merged.top, reverse=True)
        open_: list[tuple[Merged, str]] = []
        for number, row in self._plain_rows():
            open_ = [(merged, value) for merged, value in open_ if merged.bottom >= number - 1]
            while waiting and waiting[-1].top < number:
                merged = waiting.pop()
                place = merged.left - self.left
                if merged.top == number - 1 and 0 <= place < len(row):
                    open_.append((merged, row[place]))
            for merged, value in open_:
                for column in range(merged.left, min(merged.right, self.left + len(row) - 1) + 1):
                    row[column - self.left] = value
            yield number, row


def _filled(row: Iterable[str]) -> int:
    return sum(bool(cell.strip()) for cell in row)


def _grouped(group: str, name: str) -> str:
    """Return the name of a column under a group: “Coherence” over “Anna” is “Coherence (Anna)”."""
    return f"{group} ({name})" if group and name and group != name else group or name


def _letter(column: int) -> str:
    """Return a spreadsheet's name of a column, from 0: A, B, … Z, AA."""
    letters = ""
    column += 1
    while column:
        column, place = divmod(column - 1, 26)
        letters = chr(ord("A") + place) + letters
    return letters


def _text(value: Any) -> str:
    """Return a cell as text."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    if isinstance(value, datetime.datetime):
        is_day = value.time() == datetime.time()
        return value.date().isoformat() if is_day else value.isoformat(sep=" ")
    return str(value)


def _merged_in_document(archive: zipfile.ZipFile, sheet: str) -> Iterator[Merged]:
    """Return the merged cells of an OpenDocument sheet, which the library does not provide."""
    row = column = 0
    is_wanted = False
    with archive.open("content.xml") as file:
        for event, element in ElementTree.iterparse(file, events=("start", "end")):  # noqa: S314 (expat limits entities)
            if event == "start":
                if element.tag == f"{_TABLE}table":
                    is_wanted, row = element.get(f"{_TABLE}name") == sheet, 0
                elif element.tag == f"{_TABLE}table-row":
                    column = 0
                continue
            if element.tag == f"{_TABLE}table-row":
                row += _number(element, "number-rows-repeated")
            elif element.tag in _CELLS:
                rows = _number(element, "number-rows-spanned")
                columns = _number(element, "number-columns-spanned")
                if is_wanted and rows * columns > 1:
                    yield Merged(row, column, row + rows - 1, column + columns - 1)
                column += _number(element, "number-columns-repeated")
            if element.tag in (f"{_TABLE}table-row", f"{_TABLE}table"):
                element.clear()


def _number(element: ElementTree.Element, name: str) -> int:
    written = element.get(f"{_TABLE}{name}", "1")
    return int(written) if written.isdecimal() and len(written) < 10 else 1
