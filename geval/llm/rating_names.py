"""Which words before a number name this criterion's rating. Pure.

A heading names a rating if every one of its words is known and one of them is the criterion or a
name of a rating: "Final score (1-5)", "My rating for coherence". "Max score", "Coherence issues"
and "Fluency" are other things.
"""

import re
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache

from geval.llm import reply_words as words

# Stand for each character of the criterion's name and of others' in a reply, so that signs in them
# are none of the sentence.
CRITERION, OTHER = "\x01", "\x04"
LETTER = "A-Za-zÀ-ɏЀ-ӿ"
_MARKUP = re.compile(r"[*_`#\"{}$“”„«»▁Ġ]")
_DIGIT = re.compile(r"\d")
# A scale that a form repeats between a name and its rating: "Coherence (1-5):".
IN_BRACKETS = r"\s{0,9}(?:\([^)\n]{0,80}\)\s{0,9})?"
_SEPARATOR = rf"(?=[*_`\"]{{0,3}}{IN_BRACKETS}(?:[:=|]|\s[-–—]\s|\s(?:of|is)\s))"
_BRACKETS = re.compile(r"[(\[]([^()\[\]\n]{0,80})[)\]]")
_WORD = re.compile(rf"[^\W\d_]+(?:['’-][^\W\d_]+)*|{CRITERION}+|{OTHER}+")
_PART = re.compile(r"[.!?;\n。！？；|…,，、:：]|(?<![^\W\d_])\d")
_ABOUT = re.compile(
    r"\s*(?:for|regarding|concerning|as for|in terms of|on|if|when|unless|where|had|were)\b", re.I
)
_LETTERS = frozenset("ABCDEF")
_CJK = "一-鿿぀-ヿ가-힣"
_KNOWN = frozenset[str]().union(
    *(words.RATING_NAMES, words.OVERALL, words.LEADS, words.FILLERS, words.JUDGE, words.RATED),
    *(words.RATING_VERBS, words.FIRST_PERSON, words.OBJECT_VERBS, words.LINKS),
)
# Headings of parts of a reply, which say nothing about the number below them.
_PARTS = words.words_in(
    "feedback analysis reasoning explanation reason reasons rationale comment comments conclusion"
    " form json critique notes note thoughts evaluation begründung erklärung explication raison"
    " explicación justificación 理由 分析"
)


class Closeness(IntEnum):
    """How closely a heading names the rating that is looked for."""

    NONE = 0
    OVERALL = 1
    RATING = 2
    CRITERION = 3


def any_of(patterns: Collection[str]) -> str:
    """Join alternatives, longest first, as the first that matches counts."""
    return "|".join(sorted(patterns, key=len, reverse=True))


def flexible(name: str) -> str:
    """Return a pattern for a name as replies write it: any run of spaces for what markup blanks
    out, and accents combined or separate."""
    spellings = {unicodedata.normalize(form, name) for form in ("NFC", "NFD")} | {name}
    return "|".join(
        sorted(
            r"[\s_*`#\"{}$]{1,9}".join(map(re.escape, _MARKUP.sub(" ", spelling).split()))
            for spelling in spellings
        )
    )


@dataclass(frozen=True)
class Names:
    """The names of a criterion's rating."""

    criterion: re.Pattern[str] | None = None
    of_all: re.Pattern[str] | None = None

    @classmethod
    def of(cls, criterion: str, others: Collection[str] = ()) -> "Names":
        return _names_of(criterion, tuple(others))

    def marked(self, plain: str) -> str:
        """Replace the criterion's name, every character by `CRITERION`, and those of others by
        `OTHER`. A name with digits counts only before a rating ("Step 2: 4")."""
        if self.criterion is None or self.of_all is None:
            return plain
        is_criterion = self.criterion.fullmatch
        return self.of_all.sub(
            lambda name: (CRITERION if is_criterion(name[0]) else OTHER) * len(name[0]), plain
        )

    def of_key(self, key: str) -> Closeness:
        """Return what a name of an element or a member of JSON names: "coherenceScore"."""
        spaced = re.sub(r"(?<=[a-z])(?=[A-Z])|[_\W]+", " ", key)
        for spelling in (key, spaced):
            marked = self.marked(f"{spelling}: ")[: len(spelling)]
            if closeness := closeness_of(marked):
                return closeness
        return Closeness.NONE


@lru_cache(maxsize=512)
def _names_of(criterion: str, others: tuple[str, ...]) -> Names:
    if not _MARKUP.sub(" ", criterion).strip():
        return Names()
    same = words.SAME_CRITERIA.get(criterion.casefold(), "").split()
    patterns = {name: flexible(name) for name in (criterion, *same, *others)}
    criteria = any_of([patterns[name] for name in (criterion, *same)])
    names = "|".join(
        f"(?:{patterns[name]}){_SEPARATOR if any(map(str.isdecimal, name)) else ''}"
        for name in sorted(patterns, key=len, reverse=True)
    )
    return Names(
        re.compile(criteria, re.I),
        re.compile(rf"(?<![{LETTER}\d])(?:{names})(?![{LETTER}])", re.I),
    )


def words_of(clause: str) -> list[str]:
    """Return the words of a clause in small letters, without those of scripts that write words
    together if they are known."""
    listed: list[str] = []
    for match in _WORD.finditer(clause):
        word = match[0].replace("’", "'").casefold()
        if match[0] in _LETTERS and match.start():
            listed.append(match[0])  # "summary A"
        elif word in _KNOWN or not _TOGETHER_SCRIPT.search(word):
            listed.append(word)
        else:
            listed.extend(_TOGETHER.findall(word))
            rest = _TOGETHER.sub("", word)
            listed.extend([rest] if rest else [])
    return listed


_TOGETHER_SCRIPT = re.compile(f"[{_CJK}]")
_TOGETHER = re.compile(any_of([word for word in _KNOWN if _TOGETHER_SCRIPT.search(word)]))


def is_known(word: str) -> bool:
    """Return whether a word may stand between a subject and its rating."""
    return word in _KNOWN or word[0] == CRITERION


def is_name(word: str) -> bool:
    """Return whether a word names a rating or the criterion."""
    return word in words.RATING_NAMES or word[0] == CRITERION


def closeness_of(heading: str) -> Closeness:
    """Return how closely a marked heading, without what is after it, names the rating."""
    for bracket in _BRACKETS.finditer(heading):
        inside = words_of(bracket[1])
        if len(inside) == 1 and not (is_known(inside[0]) or _DIGIT.search(bracket[1])):
            return Closeness.NONE  # "Score (fluency)"
    bare = _BRACKETS.sub(lambda match: match[0] if CRITERION in match[0] else " ", heading)
    *before, last = _PART.split(bare)
    if before and _is_elsewhere(bare, before[-1], last):
        return Closeness.NONE
    return _closeness(words_of(last))


def _is_elsewhere(heading: str, before: str, last: str) -> bool:
    """Return whether the words before the last part are about something else: "For fluency,
    score", "Fluency: score"."""
    sign = heading[-len(last) - 1]
    if CRITERION in last:
        return False
    if sign in ",，":
        return bool(_ABOUT.match(before)) and not all(map(is_known, words_of(before)))
    return sign in ":：" and is_other_heading(before)


def _closeness(listed: list[str]) -> Closeness:
    if not listed or not all(map(is_known, listed)):
        return Closeness.NONE
    if any(word[0] == CRITERION for word in listed):
        return Closeness.CRITERION
    if any(word in words.OVERALL for word in listed):
        return Closeness.OVERALL
    if "in" in listed[1:]:
        return Closeness.NONE  # "the rating in the text"
    if any(map(is_name, listed)) or states(listed) or all(word in words.LEADS for word in listed):
        return Closeness.RATING
    return Closeness.NONE


def is_other_heading(line: str) -> bool:
    """Return whether a marked line is the heading of something else than this rating."""
    listed = words_of(line)
    return (
        0 < len(listed) <= 3
        and not all(map(is_known, listed))
        and not any(is_name(word) or word in _PARTS for word in listed)
    )


def states(listed: list[str]) -> bool:
    """Return whether the judge is the subject of words that lead to a rating: "I would give it"."""
    for place, word in enumerate(listed):
        if word in words.FIRST_PERSON:
            return True
        if word in words.JUDGE and any(
            later in words.RATING_VERBS or later in words.RATING_NAMES
            for later in listed[place + 1 :]
        ):
            return True
    return False
