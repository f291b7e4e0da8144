"""The view of the page of two judges, read from and written to a query string."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from geval.reports.gap_view import first_of, number_in
from geval.reports.options import ReportOptions
from geval.statistics.same_documents import ONLY_FIRST, ONLY_SECOND

CLASSES = {"first": ONLY_FIRST, "second": ONLY_SECOND}


@dataclass(frozen=True)
class PairView:
    """The two judges to compare, in a view of the report; `criterion` and `only` ("first", "second"
    or both) select the listed outputs."""

    options: ReportOptions
    first: int = 0
    second: int = 0
    criterion: int = 0
    only: str = ""
    page: int = 0

    @property
    def query(self) -> str:
        """The query string, without defaults."""
        own = ("first", "second", "criterion", "only", "page")
        given = [(name, value) for name in own if (value := getattr(self, name))]
        return "&".join(part for part in (urlencode(given), self.options.query) if part)

    def of_numbers(self, known: Mapping[str, Iterable[int]]) -> "PairView":
        """Return the part of the view on which its numbers depend.

        Args:
            known: the ids of the project's judges; others are ignored.
        """
        first, second = (first_of(pk, known["judges"]) for pk in (self.first, self.second))
        return PairView(self.options, first, second)

    def to(self, **changes: Any) -> str:
        """Return the query string of another view, with some parts changed, starting at the first
        page."""
        return f"?{replace(self, **({'page': 0} | changes)).query}"


def read_pair_view(query: Mapping[str, Any], options: ReportOptions) -> PairView:
    """Read the view from a query string; invalid parts get their defaults."""
    only = str(query.get("only") or "")
    ids = {name: number_in(query, name) for name in ("first", "second", "criterion", "page")}
    return PairView(options, only=only if only in CLASSES else "", **ids)
