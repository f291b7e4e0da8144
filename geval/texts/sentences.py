"""Sentences and parts of them that are used in several places."""

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
