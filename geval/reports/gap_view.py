"""The view of the page of disagreements: read from an address, and written into one."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from geval.reports.options import ReportOptions

# By what outputs are ranked.
BASES = {
    "gap": "gap to people",
    "shifted": "gap beyond the judge's shift",
    "apart": "raters apart",
}
# Which outputs are listed by their cause; any other word is a cause.
OPEN, LOOKED_AT, EVERY = "", "any", "all"
# No cause has so many letters.
LONGEST_CAUSE = 100
_IDS = ("criterion", "judge", "run", "system", "without", "output", "page")


@dataclass(frozen=True)
class GapView:
    """What is looked at: a judge on a criterion (0: the one that the page chooses), in a view of
    the report.

    `run` takes the scores of one run only; `system` and `without` list one system, or all others;
    `output` is the case that is open (0: the first of the list).
    """

    options: ReportOptions
    criterion: int = 0
    judge: int = 0
    by: str = "gap"
    run: int = 0
    system: int = 0
    without: int = 0
    cause: str = OPEN
    output: int = 0
    page: int = 0

    @property
    def query(self) -> str:
        """The part of an address behind the question mark, defaults left out."""
        own = [(name, getattr(self, name)) for name in (*_IDS, "by", "cause")]
        given = [(name, value) for name, value in own if value and (name, value) != ("by", "gap")]
        return "&".join(part for part in (urlencode(given), self.options.query) if part)

    def of_numbers(self, known: Mapping[str, Iterable[int]]) -> "GapView":
        """The part of the view that its numbers depend on.

        Args:
            known: the ids of the project's criteria, judges and runs; others have no numbers.
        """
        return GapView(
            self.options,
            first_of(self.criterion, known["criteria"]),
            first_of(self.judge, known["judges"]),
            self.by,
            first_of(self.run, known["runs"]),
        )

    def to(self, **changes: Any) -> str:
        """The address of another view, with some parts changed; from the first page on."""
        return f"?{replace(self, **({'page': 0, 'output': 0} | changes)).query}"


def read_gap_view(query: Mapping[str, Any], options: ReportOptions) -> GapView:
    """The view in an address; what cannot be used in it has its default.

    Args:
        options: the view of the report in the same address.
    """
    ids = {name: number_in(query, name) for name in _IDS}
    by = str(query.get("by") or "")
    cause = str(query.get("cause") or "").replace("\0", "").strip()[:LONGEST_CAUSE]
    return GapView(options, by=by if by in BASES else "gap", cause=cause, **ids)


def number_in(query: Mapping[str, Any], name: str) -> int:
    """A whole number in an address; 0 where there is none."""
    text = str(query.get(name) or "")
    # No id has more digits.
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else 0


def first_of(wanted: int, ids: Iterable[int], otherwise: int = 0) -> int:
    """The wanted id where it is known."""
    return wanted if wanted in set(ids) else otherwise
