"""Numbers in a reply, with what is attached to them. Pure.

A number that is part of a longer expression is never read in part: "4/10", "3-4", "4,000".
"""

import heapq
import itertools
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

from geval.llm import reply_words as words
from geval.llm.rating_names import CRITERION, LETTER, any_of

# Replies come from untrusted servers, so parsing must take linear, not quadratic, time: numbers are
# searched with a pattern without lookahead, and the surroundings of each are matched within a
# window.
_NUMBER = re.compile(
    r"(?<![A-Za-z\d])(?<!\d[.,])(?:(?<![\w)])[-−])?(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+(?:[.,]\d+)?|[.,]\d+)"
)
# A broken model may repeat numbers endlessly, and each is compared with many patterns.
_MOST_NUMBERS = 1000
# A number with more digits is not a rating, and converting it takes time.
MOST_DIGITS = 20
GAP = r"[^\S\n]{0,9}"
_DIGITS = r"\d{1,21}(?:[.,]\d{1,21})?"
_ALONE = [word for word in words.NUMBER_WORDS if not re.search("[一-鿿가-힣]", word)]
_TOGETHER = [word for word in words.NUMBER_WORDS if re.search("[一-鿿]", word)]
_KOREAN = [word for word in words.NUMBER_WORDS if re.search("[가-힣]", word)]
_WORD = (
    rf"(?<![^\W_])(?:{any_of(_ALONE)})(?![^\W_])(?![^\S\n]{{1,3}}\d)"
    rf"|(?<![^\W_])(?:{any_of(_TOGETHER)})(?![A-Za-z])"
    rf"|(?<![^\W_])(?:{any_of(_KOREAN)}){words.KOREAN_UNIT}"
)
_NUMBER_WORD = re.compile(_WORD, re.I)
_COUNT = rf"(?:{_DIGITS}|{_WORD})"
_JOINS = any_of([*words.TO, *words.AND, *words.OR])
_UNIT = re.compile(rf"{GAP}(?:{any_of(words.UNITS)})(?![A-Za-z])", re.I)
_PERCENT = re.compile(rf"{GAP}%")
_FRACTION = re.compile(
    rf"{GAP}(?P<sign>[½¼¾])|[^\S\n](?P<parts>[13]/[24])(?![\d/])| and a half\b", re.I
)
_FRACTIONS = {"½": 0.5, "¼": 0.25, "¾": 0.75, "1/2": 0.5, "1/4": 0.25, "3/4": 0.75, None: 0.5}
_TOP = re.compile(
    rf"{GAP}(?:(?:{any_of(words.OUT_OF)}){GAP}|[(（]?(?:满分|滿分)(?:为|是)?{GAP})(?P<top>{_COUNT})(?![A-Za-z\d%])"
    rf"|{GAP}[(（](?P<full>{_DIGITS})点満点",
    re.I,
)
_SHARE = re.compile(rf"{GAP}=\s?\d{{1,3}}(?:[.,]\d{{1,9}})?%?(?![\d/])")
_SECOND = re.compile(
    rf"{GAP}(?:[-–—~]|,?{GAP}[(]?(?:{_JOINS})(?![A-Za-z])){GAP}"
    rf"(?:an?[^\S\n])?(?P<second>{_DIGITS})|{GAP}[,;&|]?{GAP}(?P<next>{_DIGITS})",
    re.I,
)
# "[3,4]" lists two numbers.
_PAIR = re.compile(r"[\[({]\d{1,3},(?P<second>\d{1,3})[\])}]")
# What may follow a rating: the end, punctuation without a digit after it, or words that begin a
# reason. A question is no rating.
_MARKS = r"$|[\n\x03;!)\]}'’”（(）。，；！、|]|[.,](?!\d)|:(?![^\S\n]?\d)|/(?![\w])"
_REASONS = rf"(?:{any_of(words.REASON_WORDS)})(?![{LETTER}])|on (?:its )?{CRITERION}"
ENDS = re.compile(
    rf"{GAP}(?:{_MARKS}|[^\S\n][-–—](?=[^\S\n])|[-–](?=[^\S\n][^\W\d])|—(?=\w)|{_REASONS})", re.I
)
WORD_ENDS = re.compile(rf"{GAP}(?:{_MARKS}|[^\S\n][-–—]|{_REASONS})", re.I)


@dataclass(frozen=True)
class Number:
    """A number in a reply with its attachments: a percent sign, a unit, the highest point ("/5"), a
    second number ("or 4"). `end` is after all of them."""

    start: int
    end: int
    value: float
    text: str
    top: float | None
    second: float | None
    is_percent: bool = False

    @property
    def is_word(self) -> bool:
        return not any(character.isdecimal() for character in self.text)


def numbers_in(plain: str) -> Iterator[Number]:
    """Yield the numbers of a reply, in digits or words, in order; a number that is attached to
    another is part of it."""
    matches = heapq.merge(
        _NUMBER.finditer(plain), _NUMBER_WORD.finditer(plain), key=re.Match[str].start
    )
    end = 0
    for match in itertools.islice(matches, _MOST_NUMBERS):
        if match.start() >= end:
            number = _with_company(plain, match)
            end = number.end
            yield number


def _with_company(plain: str, match: re.Match[str]) -> Number:
    """Return a number with its attachments."""
    value = value_of(match[0])
    fraction = _FRACTION.match(plain, match.end())
    if fraction and value == int(value) >= 0:
        value += _FRACTIONS[fraction["sign"] or fraction["parts"]]
    begin = fraction or match
    percent = _PERCENT.match(plain, begin.end())
    unit = None if percent else _UNIT.match(plain, begin.end())
    end = (percent or unit or begin).end()
    top = _TOP.match(plain, end)
    if top:
        behind = _UNIT.match(plain, top.end())
        unit, end = behind or unit, (behind or top).end()
        share = _SHARE.match(plain, end)
        end = share.end() if share else end
    second = _SECOND.match(plain, end)
    pair = _PAIR.match(plain, match.start() - 1) if match.start() else None
    listed = float(pair["second"]) if pair else None
    return Number(
        start=match.start(),
        end=second.end() if second else end,
        value=value,
        text=match[0][:MOST_DIGITS],
        top=value_of(top["top"] or top["full"]) if top else None,
        second=value_of(second["second"] or second["next"]) if second else listed,
        is_percent=percent is not None,
    )


def value_of(written: str) -> float:
    """Return the value of a number in digits or words; infinity where it has too many digits."""
    word = words.NUMBER_WORDS.get(written.casefold())
    if word is not None:
        return float(word)
    if len(written) > MOST_DIGITS:
        return math.inf
    if re.fullmatch(r"[-−]?\d{1,3}(?:,\d{3})+", written):
        written = written.replace(",", "")
    return float(written.replace(",", ".").replace("−", "-"))


def highest_before(top: float) -> re.Pattern[str]:
    """Return the pattern of the highest point where it precedes the rating ("满分5分，4分")."""
    written = re.escape(f"{top:g}")
    return re.compile("|".join(form.format(top=written) for form in words.TOP_FIRST))
