"""Write lines of CSV that are safe to open in a spreadsheet, and read their cells again."""

import csv
import io
from collections.abc import Callable, Iterable
from typing import Any

# Characters that make a spreadsheet read a cell as a formula.
FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\n")
# What separates the cells of a line.
SEPARATORS = ",\t;|"


def separator_of(line: str) -> str:
    """Return what separates the cells of a table's first line. Cells copied from a spreadsheet are
    separated by tabs, and may contain any other separator."""
    return "\t" if "\t" in line else max(SEPARATORS, key=line.count)


def csv_line(cells: Iterable[Any], *, number: Callable[[float], str] = repr) -> str:
    """Return a line of CSV. Spreadsheets read texts as texts, not as formulas; None is an empty
    cell.

    Args:
        number: how a float is written.
    """
    out = io.StringIO()
    # The writer quotes only its own line ending, not others.
    csv.writer(out, lineterminator="\r\n").writerow(
        number(cell)
        if isinstance(cell, float)
        else _harmless(cell)
        if isinstance(cell, str)
        else cell
        for cell in cells
    )
    return out.getvalue().removesuffix("\r\n") + "\n"


def _harmless(text: str) -> str:
    return f"'{text}" if _may_be_formula(text) else text


def unguarded(text: str) -> str:
    """Return a cell without the apostrophe that `csv_line` puts before what may be a formula."""
    return text[1:] if text[:1] == "'" and _may_be_formula(text[1:]) else text


def _may_be_formula(text: str) -> bool:
    """Return whether a text begins like a formula, also after apostrophes: so that a text with one
    of its own is read again as it was."""
    return text.lstrip("'").startswith(FORMULAS)
