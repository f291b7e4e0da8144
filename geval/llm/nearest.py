"""Which texts are most like another, by their words: BM25 (Robertson and Zaragoza, 2009, The
Probabilistic Relevance Framework) as the library bm25s computes it. Pure."""

import logging
import re
from functools import lru_cache
from typing import Any

_WORD = re.compile(r"\w+")
# Pools that are kept ready; a run has one for each criterion.
POOLS = 16


def by_likeness(pool: tuple[str, ...], text: str) -> list[int]:
    """Places of the texts of a pool, the most like `text` first; of equals the earlier first."""
    known, index = _index(pool)
    # A word counts once, however often the text says it.
    words = sorted(set(_words(text)) & known)
    if index is None or not words:
        return list(range(len(pool)))
    scores = index.get_scores(words)
    return sorted(range(len(pool)), key=lambda at: -scores[at])


@lru_cache(maxsize=POOLS)
def _index(pool: tuple[str, ...]) -> tuple[set[str], Any]:
    """The words of a pool, and its index; None for a pool without words."""
    import bm25s

    # Importing it has it log every step.
    logging.getLogger(bm25s.__name__).setLevel(logging.WARNING)
    words = [_words(one) for one in pool]
    known = {word for one in words for word in one}
    if not known:
        return known, None
    index = bm25s.BM25(method="lucene", backend="numpy")
    index.index(words, show_progress=False)
    return known, index


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())
