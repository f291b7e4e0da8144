"""Sentences of a text, by NLTK's Punkt without trained parameters (which need no download)."""

from functools import cache
from typing import Any


@cache
def _splitter() -> Any:
    from nltk.tokenize.punkt import PunktSentenceTokenizer

    return PunktSentenceTokenizer()


def sentences(text: str) -> list[str]:
    """The sentences of a text that is not blank; at least one."""
    return list(_splitter().tokenize(text.strip())) or [text.strip()]
