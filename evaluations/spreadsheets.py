"""CSV for people who open it in a spreadsheet: the one place where its lines are written."""

import csv
import io
from collections.abc import Callable, Iterable
from typing import Any

# What makes a spreadsheet take a cell for a formula, or a cell of a formula that is glued on.
FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\n")


def csv_line(cells: Iterable[Any], *, number: Callable[[float], str] = repr) -> str:
    """A line of CSV. Texts are texts to a spreadsheet as well; None is an empty cell.

    Args:
        number: how a float is written.
    """
    out = io.StringIO()
    # Of what ends lines elsewhere, the writer quotes only what ends its own.
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
