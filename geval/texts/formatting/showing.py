"""Render a text in its format as safe HTML, or give the reason why it is shown as written."""

import csv
import io
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn

from geval.texts.formatting.kinds import FieldFormat, TextFormat, looks_like
from geval.texts.formatting.safe_html import (
    cleaned,
    coloured,
    escaped,
    longest_coloured,
    output_as_html,
)
from geval.texts.spreadsheets import separator_of

# Deeper lines would begin beyond the right edge of a page.
DEEPEST_JSON = 40
_JSON_PIECES = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{},:]|[^\s\[\]{},:"]+')
# Pages show several outputs, and browsers lay out large tables slowly.
MOST_CELLS = 3_000
# Longer texts are shown as they were written: input that is made to be slow, such as unclosed
# brackets, takes quadratic time, and a page should not wait for a second.
MOST_LETTERS = 20_000


@dataclass(frozen=True)
class ShownText:
    """A text as a page shows it: `html` is "" for the text as it was written, `why` says why its
    format was not applied, `kind` is the format used."""

    html: str = ""
    why: str = ""
    kind: TextFormat = TextFormat.PLAIN


class _AsWrittenError(ValueError):
    """The text cannot be shown in its format; the message is a sentence for the page."""


def shown(text: str, format_: FieldFormat) -> ShownText:
    """Render a text in the format of its field."""
    is_guess = format_.kind == TextFormat.AUTOMATIC
    kind = looks_like(text[:MOST_LETTERS]) if is_guess else format_.kind
    write = _WRITERS.get(kind)
    if write is None or not text.strip():
        return ShownText()
    try:
        if len(text) > MOST_LETTERS:
            raise _AsWrittenError(f"It has more than {MOST_LETTERS:,} characters.")
        return ShownText(write(text, format_), kind=kind)
    except _AsWrittenError as reason:
        # If a guessed format fails, no reason needs to be shown.
        why = "" if is_guess else f"Shown as it was written. {reason}"
        return ShownText(why=why)


def _markdown(text: str, _format: FieldFormat) -> str:
    if html := output_as_html(text):
        return html
    raise _AsWrittenError("Its Markdown is nested too deeply.")


def _code(text: str, format_: FieldFormat) -> str:
    return _block(text, format_.code)


def _html(text: str, _format: FieldFormat) -> str:
    return _block(text, "html")


def _json(text: str, _format: FieldFormat) -> str:
    try:
        lines = indented_json(text)
    except NotJsonError as error:
        raise _AsWrittenError(f"It cannot be read as JSON: {error}.") from None
    if len(lines) > longest_coloured("json"):
        raise _AsWrittenError(
            f"Indented, it has more than {longest_coloured('json'):,} characters."
        )
    return _block(lines, "json")


def _table(text: str, _format: FieldFormat) -> str:
    try:
        head, *body = rows_of(text)
    except NotTableError as error:
        raise _AsWrittenError(f"It cannot be read as a table: {error}.") from None
    rows = "".join(f"<tr>{_cells('td', row)}</tr>" for row in body)
    return cleaned(
        f"<table><thead><tr>{_cells('th', head)}</tr></thead><tbody>{rows}</tbody></table>"
    )


def _cells(tag: str, row: list[str]) -> str:
    return "".join(f"<{tag}>{escaped(cell)}</{tag}>" for cell in row)


def _block(code: str, language: str) -> str:
    if len(code) > longest_coloured(language):
        raise _AsWrittenError(
            f"Code of more than {longest_coloured(language):,} characters has no colours."
        )
    html = coloured(code, language) or escaped(code)
    return cleaned(f"<pre><code>{html}</code></pre>")


_WRITERS: dict[TextFormat, Callable[[str, FieldFormat], str]] = {
    TextFormat.MARKDOWN: _markdown,
    TextFormat.CODE: _code,
    TextFormat.HTML: _html,
    TextFormat.JSON: _json,
    TextFormat.TABLE: _table,
}


class NotTableError(ValueError):
    """The text is not a table; the message says what is wrong with it."""


def rows_of(text: str) -> list[list[str]]:
    """Return the rows of a text whose cells are separated as those of files.

    Raises:
        NotTableError: it has one column, rows of different lengths or too many cells.
    """
    text = text.strip("\r\n")
    delimiter = separator_of(text.split("\n", 1)[0])
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))
    except csv.Error as error:
        raise NotTableError(str(error)) from None
    width = len(rows[0]) if rows else 0
    if width < 2:
        raise NotTableError("its first line has one column")
    for number, row in enumerate(rows, start=1):
        if len(row) != width:
            raise NotTableError(f"row {number:,} has {len(row):,} cells, the first has {width:,}")
    if width * len(rows) > MOST_CELLS:
        raise NotTableError(f"it has more than {MOST_CELLS:,} cells")
    return rows


class NotJsonError(ValueError):
    """The text is not JSON; the message says what is wrong with it."""


def indented_json(text: str) -> str:
    """Indent a JSON text. Only white space changes: numbers, repeated names and escaped characters
    stay unchanged.

    Raises:
        NotJsonError: it is not JSON, or nested too deeply to be read on a page.
    """
    _check_json(text)
    lines: list[str] = [""]
    depth = 0
    before = ""
    for piece in _JSON_PIECES.findall(text):
        if piece in "]}" and before not in "[{":
            depth -= 1
            lines.append("  " * depth)
        elif piece in "]}":
            depth -= 1
        elif before and before in "[{,":
            lines.append("  " * depth)
        lines[-1] += piece + (" " if piece == ":" else "")
        depth += piece in "[{"
        if depth > DEEPEST_JSON:
            raise NotJsonError(f"nested more than {DEEPEST_JSON} deep")
        before = piece
    return "\n".join(lines)


def _check_json(text: str) -> None:
    try:
        json.loads(text, parse_int=str, parse_float=str, parse_constant=_refuse_constant)
    except RecursionError:
        raise NotJsonError(f"nested more than {DEEPEST_JSON} deep") from None
    except ValueError as error:
        raise NotJsonError(str(error)) from None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a value of JSON")
