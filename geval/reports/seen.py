"""Words for what a judge's search has seen of the documents behind its numbers: numbers over these
look better than they are."""

from collections.abc import Sequence
from dataclasses import dataclass

from geval.texts.sentences import listed

# The mark after the name of a judge with numbers over documents that its search has seen.
SEEN = "seen by its search"


def marked(name: str, *, is_seen: bool) -> str:
    """Return a judge's or criterion's name, marked if a search has seen documents behind its
    numbers."""
    return f"{name} ({SEEN})" if is_seen else name


def marked_on(name: str, seen: Sequence[str], *, of: int) -> str:
    """Return a judge's name over several criteria.

    Args:
        seen: the criteria on which its search has seen documents behind its numbers.
        of: on how many criteria it has numbers.
    """
    if not seen:
        return name
    where = "" if len(seen) == of else f" on {', '.join(seen)}"
    return f"{name} ({SEEN}{where})"


def about_searches(seen: Sequence[str]) -> str:
    """Return whose search has seen the documents, to append to a line."""
    return f"; {listed(seen)} {'is' if len(seen) == 1 else 'are'} {SEEN}" if seen else ""


@dataclass(frozen=True)
class Seen:
    """How many of the `documents` behind a judge's numbers its search has seen; `look` is the
    result of its look at locked documents, empty if there was none."""

    documents: int
    of: int
    look: str = ""

    def __str__(self) -> str:
        return f"{SEEN}: {self.documents:,} of {self.of:,} documents{self._and_look}"

    @property
    def sentence(self) -> str:
        """The information as a sentence."""
        counts = f"{self.documents:,} of these {self.of:,} documents"
        return f"Its search has seen {counts}{self._and_look}."

    @property
    def _and_look(self) -> str:
        return f"; {self.look}" if self.look else ""
