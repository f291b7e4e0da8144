"""Find the texts most similar to another by their words: BM25 (Robertson and Zaragoza, 2009, The
Probabilistic Relevance Framework), with word weights that are never negative. Pure."""

import math
import re
from collections import Counter
from functools import lru_cache

_WORD = re.compile(r"\w+")
# Indexes that are cached; a run has one for each criterion.
POOLS = 16
# How soon a repeated word adds nothing (k1), and how much a text's length counts (b): the usual
# values.
K, B = 1.5, 0.75
# Sums of the same numbers in another order differ in their last digits; treat them as equal.
DIGITS = 9


def by_likeness(pool: tuple[str, ...], text: str) -> list[int]:
    """Return the indexes of a pool's texts, the most similar to `text` first; ties in the pool's
    order."""
    index = _index(pool)
    scores = [0.0] * len(pool)
    # A word of the text counts once, however often it occurs.
    for word in set(_words(text)) & index.keys():
        for place, score in index[word]:
            scores[place] += score
    return sorted(range(len(pool)), key=lambda place: -round(scores[place], DIGITS))


@lru_cache(maxsize=POOLS)
def _index(pool: tuple[str, ...]) -> dict[str, list[tuple[int, float]]]:
    """Return for each word the indexes of the texts that contain it, each with what it adds to the
    score."""
    texts = [Counter(_words(text)) for text in pool]
    lengths = [text.total() for text in texts]
    having = Counter(word for text in texts for word in text)
    index: dict[str, list[tuple[int, float]]] = {word: [] for word in having}
    for place, text in enumerate(texts):
        damping = K * (1 - B + B * lengths[place] * len(pool) / sum(lengths)) if text else 0.0
        for word, count in text.items():
            rarity = math.log(1 + (len(pool) - having[word] + 0.5) / (having[word] + 0.5))
            index[word].append((place, rarity * count / (count + damping)))
    return index


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())
