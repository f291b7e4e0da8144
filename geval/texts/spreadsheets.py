"""Write lines of CSV that are safe to open in a spreadsheet."""

import csv
import io
from collections.abc import Callable, Iterable
from typing import Any

# Characters that make a spreadsheet read a cell as a formula.
FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\n")


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
    return f"'{text}" if text.startswith(FORMULAS) else text
