"""The view of the disagreements page, read from and written to a query string."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from geval.reports.options import ReportOptions

# What outputs are ranked by.
BASES = {
    "gap": "gap to people",
    "shifted": "gap beyond the judge's shift",
    "apart": "raters apart",
}
# Filters of outputs by the side on which the judge lies, by its name in addresses.
SIDES = {"higher": "the judge above people", "lower": "the judge below people"}
# Filters of outputs by cause; any other word is a cause.
OPEN, LOOKED_AT, EVERY = "", "any", "all"
# The longest name of a cause.
LONGEST_CAUSE = 100
_IDS = ("criterion", "judge", "run", "system", "output", "page")


@dataclass(frozen=True)
class GapView:
    """A judge on a criterion (0: chosen by the page), in a view of the report.

    `run` selects the scores of one run; `system` lists one system, `side` one of SIDES, `cell` one
    pair of labels without an order (see `cell_of`); `output` is the open case (0: the first of the
    list).
    """

    options: ReportOptions
    criterion: int = 0
    judge: int = 0
    by: str = "gap"
    run: int = 0
    system: int = 0
    cause: str = OPEN
    side: str = ""
    cell: str = ""
    output: int = 0
    page: int = 0

    @property
    def query(self) -> str:
        """The query string, without defaults."""
        own = [(name, getattr(self, name)) for name in (*_IDS, "by", "cause", "side", "cell")]
        given = [(name, value) for name, value in own if value and (name, value) != ("by", "gap")]
        return "&".join(part for part in (urlencode(given), self.options.query) if part)

    def of_numbers(self, known: Mapping[str, Iterable[int]]) -> "GapView":
        """Return the part of the view on which its numbers depend.

        Args:
            known: the ids of the project's criteria, judges and runs; others are ignored.
        """
        return GapView(
            self.options,
            first_of(self.criterion, known["criteria"]),
            first_of(self.judge, known["judges"]),
            self.by,
            first_of(self.run, known["runs"]),
        )

    def to(self, **changes: Any) -> str:
        """Return the query string of another view, with some parts changed, starting at the first
        page."""
        return f"?{replace(self, **({'page': 0, 'output': 0} | changes)).query}"


def read_gap_view(query: Mapping[str, Any], options: ReportOptions) -> GapView:
    """Read the view from a query string; invalid parts get their defaults.

    Args:
        options: the view of the report in the same query string.
    """
    ids = {name: number_in(query, name) for name in _IDS}
    by = str(query.get("by") or "")
    cause = str(query.get("cause") or "").replace("\0", "").strip()[:LONGEST_CAUSE]
    side, cell = (str(query.get(name) or "") for name in ("side", "cell"))
    return GapView(
        options,
        by=by if by in BASES else "gap",
        cause=cause,
        side=side if side in SIDES else "",
        cell=cell if re.fullmatch(r"[1-9]\d?-[1-9]\d?", cell, re.ASCII) else "",
        **ids,
    )


def number_in(query: Mapping[str, Any], name: str) -> int:
    """Return a whole number from a query string; 0 where there is none."""
    text = str(query.get(name) or "")
    # No id has more digits.
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else 0


def first_of(wanted: int, ids: Iterable[int], otherwise: int = 0) -> int:
    """Return the wanted id if it is among `ids`."""
    return wanted if wanted in set(ids) else otherwise
