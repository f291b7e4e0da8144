"""Sentences and parts of them that are used in several places; nearest names."""

import difflib
from collections.abc import Sequence

WEIGHTED = (
    "Outputs were drawn with known probabilities that differ, so each counts by its weight, which"
    " is 1 divided by its probability."
)


def listed(names: Sequence[str]) -> str:
    """Join names in a sentence: "a", "a and b", "a, b and c"."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def shortened(text: str, most: int) -> str:
    """Return a text of at most `most` characters, the last an ellipsis where it was longer."""
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


def excerpt(text: str, most: int) -> str:
    """Return the beginning of a text in a line of at most `most` characters."""
    return shortened(" ".join(text.split()), most)


def unknown_field(name: str, allowed: Sequence[str], kind: str = "field") -> str:
    """Return a message with the name, the most similar allowed names, and all of them.

    Args:
        kind: what it is a name of.
    """
    if not allowed:
        return f"{name[:80]!r} is no {kind} here; there are none."
    meant = did_you_mean(name, allowed, least=0.5)
    return f"{name[:80]!r} is no {kind} here.{meant} {kind.title()}s: {', '.join(allowed)}."


def did_you_mean(name: str, names: Sequence[str], *, least: float = 0.6) -> str:
    """A question, after a blank, that names the nearest of some names; empty if none is near.

    Args:
        least: the similarity from 0 to 1 that it needs, as difflib counts it.
    """
    near = difflib.get_close_matches(name[:80], names, n=1, cutoff=least)
    return f" Did you mean {near[0]}?" if near else ""
