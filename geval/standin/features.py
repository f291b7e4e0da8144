"""Lexical features of a text and its source, each from 0 (poor) to 1 (good). Pure and
deterministic.

The stand-in's ratings are based on them: they are crude, but depend on the texts.
"""

import re
from collections import Counter
from itertools import pairwise

_WORD = re.compile(r"[a-z0-9]+(?:['’][a-z]+)?")
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"'”’)]*\s+")
_WORDS = """
    a about after all also an and are as at be been before but by can could did do does for from
    had has have he her his how i if in into is it its just like more most my no not of on one
    only or other our out over said she so some than that the their them then there these they
    this to two up was we were what when which who will with would you your
    """
_COMMON = frozenset(_WORDS.split())
_LINKING = " but he she it they this that also then however instead the "


def words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def content_words(text: str) -> list[str]:
    return [word for word in words(text) if word not in _COMMON]


def sentences(text: str) -> list[str]:
    return [sentence for sentence in _SENTENCE_END.split(text.strip()) if sentence]


def support(output: str, source: str) -> float:
    """Return how much of the output is in the source: shares of words, word pairs, numbers and
    names."""
    words = content_words(output)
    if not words:
        return 0.0
    source_words = set(content_words(source))
    pairs_there = set(pairwise(content_words(source)))
    word_share = sum(word in source_words for word in words) / len(words)
    pairs = list(pairwise(words))
    pair_share = sum(pair in pairs_there for pair in pairs) / len(pairs) if pairs else word_share
    names = _names_and_numbers(output)
    name_share = sum(name in source for name in names) / len(names) if names else 1.0
    return unit(0.45 * word_share + 0.15 * pair_share**0.5 + 0.4 * name_share**2)


def coverage(output: str, source: str) -> float:
    """Return how much of the source's topics the output mentions: its frequent words and its
    opening."""
    counts = Counter(content_words(source))
    if not counts:
        return 0.5
    opening = set(content_words(" ".join(sentences(source)[:2])))
    weight = {word: count + (2 if word in opening else 0) for word, count in counts.items()}
    important = sorted(weight, key=lambda word: (-weight[word], word))[:14]
    output_words = set(content_words(output))
    share = sum(weight[word] for word in important if word in output_words) / sum(
        weight[word] for word in important
    )
    length = len(words(output))
    too_long = max(0.0, length / max(1, len(words(source))) - 0.5)
    return unit(1.5 * share - too_long - repetition(output))


def well_formed(output: str) -> float:
    """Return whether sentences are well formed: initial capital, final stop, sensible length, no
    repetition."""
    split = sentences(output)
    if not split:
        return 0.0
    capital = sum(
        sentence.lstrip("\"'“‘(")[:1].isupper() or sentence[:1].isdigit() for sentence in split
    ) / len(split)
    stopped = sum(sentence.rstrip("\"'”’)")[-1:] in ".!?" for sentence in split) / len(split)
    lengths = [len(words(sentence)) for sentence in split]
    sensible = sum(4 <= length <= 38 for length in lengths) / len(lengths)
    all_words = words(output)
    glue = sum(word in _COMMON for word in all_words) / max(1, len(all_words))
    natural = unit(1 - abs(glue - 0.42) * 3)
    stutter = sum(a == b for a, b in pairwise(all_words)) / max(1, len(all_words))
    score = 0.25 * capital + 0.25 * stopped + 0.2 * sensible + 0.3 * natural
    return unit(score - 2 * repetition(output) - 4 * stutter)


def connected(output: str) -> float:
    """Return whether sentences are connected: neighbours share words or are linked, without
    repetition."""
    split = sentences(output)
    if len(split) < 2:
        return 0.55 * well_formed(output) + 0.15
    links = 0.0
    for before, after in pairwise(split):
        shared = set(content_words(before)) & set(content_words(after))
        opener = words(after)[:2]
        linked = any(f" {word} " in _LINKING for word in opener)
        links += min(1.0, 0.35 * len(shared) + 0.5 * linked + 0.15)
    return unit(
        0.65 * links / (len(split) - 1) + 0.4 * well_formed(output) - 1.5 * repetition(output)
    )


def brevity(output: str) -> float:
    """Return how short a text is: 1 without words, 0.5 with 40."""
    return 1 / (1 + len(words(output)) / 40)


def repetition(output: str) -> float:
    """Share of repeated word triples."""
    all_words = words(output)
    triples = list(zip(all_words, all_words[1:], all_words[2:], strict=False))
    return 1 - len(set(triples)) / len(triples) if triples else 0.0


def _names_and_numbers(text: str) -> list[str]:
    """Return numbers, and capitalised words that do not begin a sentence."""
    numbers = re.findall(r"\d+(?:[.,]\d+)*", text)
    names = re.findall(r"(?<=[a-z,;:] )[A-Z][a-z]+", text)
    return numbers + names


def unit(value: float) -> float:
    return min(1.0, max(0.0, value))
