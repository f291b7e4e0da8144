"""Split texts into sentences with NLTK's Punkt, without trained parameters (so that no download is
needed)."""

from functools import cache
from typing import Any


@cache
def _splitter() -> Any:
    from nltk.tokenize.punkt import PunktSentenceTokenizer

    return PunktSentenceTokenizer()


def sentences(text: str) -> list[str]:
    """Return the sentences of a non-blank text; at least one."""
    return list(_splitter().tokenize(text.strip())) or [text.strip()]
