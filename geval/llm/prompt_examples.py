"""Examples with people's ratings in a prompt: chosen by their words, written, read, and left out
for the document that they come from. Pure.

Blocks are searched from mark to mark, so that reading takes linear time. The most similar are
found by BM25 (Robertson and Zaragoza, 2009, The Probabilistic Relevance Framework), with word
weights that are never negative.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from geval.llm.delimiting import has_tag
from geval.llm.item_texts import Texts

_WORD = re.compile(r"\w+")
# Indexes that are cached; a run has one for each criterion.
CACHED_POOLS = 16
# How soon a repeated word adds nothing (k1), and how much a text's length counts (b): the usual
# values.
K, B = 1.5, 0.75
# Sums of the same numbers in another order differ in their last digits; treat them as equal.
DIGITS = 9
EXAMPLES_HEADING = "Examples, rated by people:"
# Characters of each text of an example; the rest is cut.
LONGEST_EXAMPLE = 3_000
_OPENING, _BETWEEN = "<example>\n<source>\n", "\n</source>\n<text>\n"
_RATING = re.compile(r"\n</text>\nRating: [^\n]*\n</example>")
_POOL_OPENING = re.compile(r'<nearest count="(?P<count>\d{1,6})">\n')
_POOL_END = "\n</nearest>"
# Tags that would end an example, or open another, inside its texts.
EXAMPLE_TAGS = frozenset({"example", "source", "text", "nearest"})


@dataclass(frozen=True)
class Example:
    """An example in a text, from `start` to `end`, including blank lines after it."""

    source: str
    output: str
    block: str
    start: int
    end: int

    def is_of(self, texts: Texts) -> bool:
        """Return whether the example is from the same document as these texts."""
        if self.source:
            return self.source == _cut(texts.source)
        return self.output == _cut(texts.output)


@dataclass(frozen=True)
class _Pool:
    """Examples of which the nearest `count` are shown, from `start` to `end` of a template."""

    count: int
    examples: list[Example]
    start: int
    end: int


def has_delimiter(text: str) -> bool:
    """Return whether a text could pass for the end of an example, and so forge a rating."""
    return has_tag(text, EXAMPLE_TAGS)


def example_block(source: str, output: str, rating: str) -> str:
    """Return an example for a prompt, with people's rating."""
    return (
        f"{_OPENING}{_cut(source)}{_BETWEEN}{_cut(output)}\n</text>\nRating: {rating}\n</example>"
    )


def pool_block(examples: str, nearest: int) -> str:
    """Return examples as they are written in a template: a pool to choose from is marked."""
    shown = examples.strip()
    return f'<nearest count="{nearest}">\n{shown}{_POOL_END}' if nearest else shown


def read_examples(text: str) -> Iterator[Example]:
    """Yield the examples of a prompt, or of a part of it, in order."""
    start = text.find(_OPENING)
    while start >= 0:
        source = start + len(_OPENING)
        between = text.find(_BETWEEN, source)
        rating = _RATING.search(text, between + len(_BETWEEN)) if between >= 0 else None
        if rating is None:
            return
        end = rating.end()
        while text.startswith("\n", end):
            end += 1
        output = text[between + len(_BETWEEN) : rating.start()]
        yield Example(text[source:between], output, text[start : rating.end()], start, end)
        start = text.find(_OPENING, end)


def longest_filled(template: str) -> int:
    """Return the most characters that a template can have before texts are inserted: for a pool the
    longest examples count, as many as are shown."""
    pool = _pool_in(template)
    if pool is None:
        return len(template)
    longest = sorted((len(example.block) for example in pool.examples), reverse=True)
    return len(template) - (pool.end - pool.start) + sum(longest[: pool.count])


def with_its_examples(template: str, texts: Texts) -> str:
    """Remove the examples that are from the judged document, so that the judge does not see its
    human ratings. Of a pool only the nearest are kept, the nearest last."""
    if EXAMPLES_HEADING not in template:
        return template
    if pool := _pool_in(template):
        chosen = _nearest(pool, texts)
        return f"{template[: pool.start]}{chosen}{template[pool.end :]}"
    parts, end = [], 0
    for example in read_examples(template):
        if example.is_of(texts):
            parts.append(template[end : example.start])
            end = example.end
    return "".join([*parts, template[end:]])


def _nearest(pool: _Pool, texts: Texts) -> str:
    contents = tuple(f"{example.source}\n{example.output}" for example in pool.examples)
    order = by_likeness(contents, f"{_cut(texts.source)}\n{_cut(texts.output)}")
    others = [
        pool.examples[place].block for place in order if not pool.examples[place].is_of(texts)
    ]
    return "\n\n".join(reversed(others[: pool.count]))


def _pool_in(template: str) -> _Pool | None:
    opening = _POOL_OPENING.search(template)
    # To the last mark, as an example may contain anything.
    end = template.rfind(_POOL_END, opening.end()) if opening else -1
    if opening is None or end < 0:
        return None
    examples = list(read_examples(template[opening.end() : end]))
    return _Pool(int(opening["count"]), examples, opening.start(), end + len(_POOL_END))


def _cut(text: str) -> str:
    return text.strip()[:LONGEST_EXAMPLE].strip()


def by_likeness(pool: tuple[str, ...], text: str) -> list[int]:
    """Return the indexes of a pool's texts, the most similar to `text` first; ties in the pool's
    order."""
    index = _word_index(pool)
    scores = [0.0] * len(pool)
    # A word of the text counts once, however often it occurs.
    for word in set(_words(text)) & index.keys():
        for place, score in index[word]:
            scores[place] += score
    return sorted(range(len(pool)), key=lambda place: -round(scores[place], DIGITS))


@lru_cache(maxsize=CACHED_POOLS)
def _word_index(pool: tuple[str, ...]) -> dict[str, list[tuple[int, float]]]:
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
