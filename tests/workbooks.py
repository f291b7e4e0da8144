"""Small workbooks, written as Excel and LibreOffice write them."""

import io
import zipfile
from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape

# A row's cells: a text, a number, None for an empty one, or XML as it stands in the sheet.
Cell = str | float | None
Rows = Sequence[Sequence[Cell]]
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
OFFICE = "urn:oasis:names:tc:opendocument:xmlns:"
# The second format of cells is that of days.
STYLES = (
    f'<styleSheet xmlns="{MAIN}"><cellXfs count="2"><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs>'
    "</styleSheet>"
)


class Xml(str):
    """A cell as it stands in the sheet, without its place."""


def day(serial: int) -> Xml:
    """A day as Excel stores it: the number of days since 1899-12-30."""
    return Xml(f'<c PLACE s="1"><v>{serial}</v></c>')


def formula(written: str, value: float) -> Xml:
    """A formula with the value that it had when the file was saved."""
    return Xml(f"<c PLACE><f>{escape(written)}</f><v>{value}</v></c>")


def place(row: int, column: int) -> str:
    return f"{chr(ord('A') + column)}{row + 1}"


def xlsx(
    sheets: Mapping[str, Rows],
    *,
    merged: Sequence[str] = (),
    hidden: Sequence[str] = (),
    top: int = 0,
) -> bytes:
    """A workbook of Excel.

    Args:
        merged: ranges of each sheet, such as A2:A3.
        top: how many rows are empty above the first.
    """
    members = {
        "[Content_Types].xml": f'<Types xmlns="{PACKAGE}/content-types"/>',
        "xl/styles.xml": STYLES,
        "_rels/.rels": f'<Relationships xmlns="{PACKAGE}/relationships"><Relationship Id="rId1"'
        f' Type="{RELATIONS}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
    }
    listed, related = "", ""
    for number, (name, rows) in enumerate(sheets.items(), start=1):
        state = ' state="hidden"' if name in hidden else ""
        listed += f'<sheet name="{escape(name)}" sheetId="{number}"{state} r:id="rId{number}"/>'
        related += (
            f'<Relationship Id="rId{number}" Type="{RELATIONS}/worksheet"'
            f' Target="worksheets/sheet{number}.xml"/>'
        )
        members[f"xl/worksheets/sheet{number}.xml"] = _excel_sheet(rows, merged, top)
    members["xl/workbook.xml"] = (
        f'<workbook xmlns="{MAIN}" xmlns:r="{RELATIONS}"><sheets>{listed}</sheets></workbook>'
    )
    members["xl/_rels/workbook.xml.rels"] = (
        f'<Relationships xmlns="{PACKAGE}/relationships">{related}</Relationships>'
    )
    return zipped(members)


def _excel_sheet(rows: Rows, merged: Sequence[str], top: int) -> str:
    lines = ""
    for row, cells in enumerate(rows, start=top):
        written = "".join(
            _excel_cell(cell, place(row, column))
            for column, cell in enumerate(cells)
            if cell is not None
        )
        lines += f'<row r="{row + 1}">{written}</row>'
    ranges = "".join(f'<mergeCell ref="{one}"/>' for one in merged)
    joined = f"<mergeCells>{ranges}</mergeCells>" if ranges else ""
    return f'<worksheet xmlns="{MAIN}"><sheetData>{lines}</sheetData>{joined}</worksheet>'


def _excel_cell(cell: Cell, at: str) -> str:
    if isinstance(cell, Xml):
        return cell.replace("PLACE", f'r="{at}"')
    if isinstance(cell, str):
        return f'<c r="{at}" t="inlineStr"><is><t>{escape(cell)}</t></is></c>'
    return f'<c r="{at}"><v>{cell}</v></c>'


def ods(sheets: Mapping[str, Rows], *, spans: Mapping[tuple[int, int], int] | None = None) -> bytes:
    """A workbook of LibreOffice.

    Args:
        spans: how many rows a cell spans, by its row and column from 0.
    """
    tables = "".join(
        f'<table:table table:name="{escape(name)}">{_office_rows(rows, spans or {})}</table:table>'
        for name, rows in sheets.items()
    )
    content = (
        f'<office:document-content xmlns:office="{OFFICE}office:1.0"'
        f' xmlns:table="{OFFICE}table:1.0" xmlns:text="{OFFICE}text:1.0"><office:body>'
        f"<office:spreadsheet>{tables}</office:spreadsheet></office:body>"
        "</office:document-content>"
    )
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    manifest = (
        f'<manifest:manifest xmlns:manifest="{OFFICE}manifest:1.0"><manifest:file-entry'
        f' manifest:full-path="/" manifest:media-type="{kind}"/></manifest:manifest>'
    )
    return zipped({"mimetype": kind, "content.xml": content, "META-INF/manifest.xml": manifest})


def _office_rows(rows: Rows, spans: Mapping[tuple[int, int], int]) -> str:
    return "".join(
        "<table:table-row>"
        + "".join(
            _office_cell(cell, spans.get((row, column), 1)) for column, cell in enumerate(cells)
        )
        + "</table:table-row>"
        for row, cells in enumerate(rows)
    )


def _office_cell(cell: Cell, spanned: int) -> str:
    if cell is None:
        return "<table:table-cell/>"
    kind = "string" if isinstance(cell, str) else "float"
    value = "" if isinstance(cell, str) else f' office:value="{cell}"'
    merged = f' table:number-rows-spanned="{spanned}"' if spanned > 1 else ""
    return (
        f'<table:table-cell office:value-type="{kind}"{value}{merged}>'
        f"<text:p>{escape(str(cell))}</text:p></table:table-cell>"
    )


def zipped(members: Mapping[str, str | bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return out.getvalue()
