"""Rows of a CSV or TSV text."""

import csv
import io

MOST_CELLS = 3_000
_DELIMITERS = "\t;,"


class NotTableError(ValueError):
    """The text is not a table; the message says what is wrong with it."""


def rows_of(text: str) -> list[list[str]]:
    """Return the rows of a text whose cells are separated by tabs, semicolons or commas, whichever
    is most frequent in the first line.

    Raises:
        NotTableError: it has one column, rows of different lengths or too many cells.
    """
    text = text.strip("\r\n")
    first = text.split("\n", 1)[0]
    delimiter = max(_DELIMITERS, key=first.count)
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
