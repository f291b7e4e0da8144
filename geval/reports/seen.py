"""What the search that made a judge has seen of the documents behind its numbers, in words: numbers
over these look better than they are."""

from collections.abc import Sequence
from dataclasses import dataclass

from geval.texts.sentences import listed

# What follows the name of a judge whose numbers are over documents that its search has seen.
SEEN = "seen by its search"


def marked(name: str, *, is_seen: bool) -> str:
    """The name of a judge, or of a criterion, where numbers stand that its search has seen."""
    return f"{name} ({SEEN})" if is_seen else name


def marked_on(name: str, seen: Sequence[str], *, of: int) -> str:
    """The name of a judge over several criteria.

    Args:
        seen: the criteria on which its search has seen documents behind its numbers.
        of: on how many criteria it has numbers.
    """
    if not seen:
        return name
    where = "" if len(seen) == of else f" on {', '.join(seen)}"
    return f"{name} ({SEEN}{where})"


def about_searches(seen: Sequence[str]) -> str:
    """Whose search has seen the documents, to follow a line."""
    return f"; {listed(seen)} {'is' if len(seen) == 1 else 'are'} {SEEN}" if seen else ""


@dataclass(frozen=True)
class Seen:
    """Of the `documents` behind a judge's numbers, how many its search has seen; `look` says what
    its look at documents that nothing has seen gave, empty where there was none."""

    documents: int
    of: int
    look: str = ""

    def __str__(self) -> str:
        return f"{SEEN}: {self.documents:,} of {self.of:,} documents{self._and_look}"

    @property
    def sentence(self) -> str:
        """The same as a sentence."""
        counts = f"{self.documents:,} of these {self.of:,} documents"
        return f"Its search has seen {counts}{self._and_look}."

    @property
    def _and_look(self) -> str:
        return f"; {self.look}" if self.look else ""
