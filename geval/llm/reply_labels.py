"""Words that name points of a scale, such as Yes and No, or the better of two texts. Pure."""

import itertools
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

from geval.llm.rating_names import CRITERION, LETTER, Closeness, any_of, flexible
from geval.llm.reply_lines import is_chosen, place_closeness, revises
from geval.llm.reply_numbers import WORD_ENDS, Number
from geval.llm.reply_text import plain_characters, without_markup
from geval.statistics.scales import Scale

# A broken model may repeat words endlessly, and each is compared with many patterns.
_MOST_WORDS = 1000
_OF_A_TEXT = r"(?:(?:text|summary|response|output|option|answer|assistant)[^\S\n])?"
_LETTER_WINS = re.compile(
    r"(?: (?:is|was))? (?:(?:the|much|far|clearly|slightly|somewhat|[a-z]{1,9}(?<!hard)ly) )?"
    rf"(?:better|preferred|superior|stronger|{CRITERION}+)(?![{LETTER}])"
    r"| wins\b"
)
_LETTER_LOSES = re.compile(
    r"[^\S\n]{0,9}[(,:–—-]?[^\S\n]{0,9}(?:is |was )?(?:the )?"
    r"(?:worse|weaker|inferior|poorer|loses|second|loser|not)\b",
    re.I,
)
# A letter before what is said of its text: "Text A: long. Text B: short."
_DESCRIBED = re.compile(r"\b([AB])[^\S\n]?[:–—-][^\S\n]")
_POINT_AFTER = re.compile(r"\s?[(=:]\s?(\d+(?:\.\d+)?)\s?\)?(?!\s?\w)")
# From a word to another that corrects it: "Yes, no", "No. Wait, yes", "Yes, but no".
_TO_NEXT_WORD = re.compile(
    r"[ \t,.;:!…。、/&>→–—-]{1,9}(?:\s{0,3}(?:\b(?:wait|actually|but|or|and|rather|well|then"
    r"|on reflection|it is|the answer is|aber|doch|moment|eigentlich|mais|enfin|pero)\b"
    r"|不对|但是?|等等|其实|いや|しかし)[\s,.:;!…、–—-]{0,9}){0,4}", re.I,
)  # fmt: skip
_ORDER = re.compile(
    r"\b(?P<first>[A-C])[^\S\n]{0,3}(?P<sign>>{1,3}|<{1,3}|=|≈|,)[^\S\n]{0,3}(?P<second>[A-C])\b"
)


def labels_in(plain: str, scale: Scale) -> Iterator[tuple[Closeness, Number]]:
    """Yield words that name points, such as Yes and No, where a form has its rating; elsewhere in a
    sentence they are ordinary words."""
    words = scale.reply_words
    if not words:
        return
    points = {_bare_label(label): point for label, point in words.items()}
    labels = _labels_pattern(tuple(words))
    is_pair = {"A", "B"} <= set(scale.words)
    if is_pair:
        plain = _ORDER.sub(_winner_alone, plain)
    described = set(_DESCRIBED.findall(plain))
    described = described if len(described) > 1 else set()
    for match in itertools.islice(labels.finditer(plain), _MOST_WORDS):
        word, start, end = match["word"], match.start("word"), match.end()
        is_article = len(word) == 1 and word not in scale.words
        is_described = word in described and _DESCRIBED.match(plain, start)
        if is_article or (is_pair and (is_described or _LETTER_LOSES.match(plain, end))):
            continue
        wins = len(word) == 1 and _LETTER_WINS.match(plain, end)
        if not (WORD_ENDS.match(plain, end) or wins):
            continue
        closeness = place_closeness(plain, match.start(), end, is_word=True)
        is_named = is_pair and is_chosen(plain, match.start(), end)
        if closeness or is_named or revises(plain, start, end):
            second = _second(plain, end, points, labels)
            label = Number(start, end, points[_bare_label(word)], word, None, second)
            yield closeness or Closeness.RATING, label


def _second(
    plain: str, end: int, points: Mapping[str, float], labels: re.Pattern[str]
) -> float | None:
    """Return the point that follows a word that names one: "Yes, no", "Yes (0)"."""
    if number := _POINT_AFTER.match(plain, end):
        return float(number[1])
    gap = _TO_NEXT_WORD.match(plain, end)
    other = labels.match(plain, gap.end()) if gap else None
    is_point = other and WORD_ENDS.match(plain, other.end())
    return points[_bare_label(other["word"])] if other and is_point else None


def _winner_alone(order: re.Match[str]) -> str:
    """Keep the better text of an order ("A > B"), alone on its line; a list and an order that
    begins with the worse one name none."""
    if ">" in order["sign"] and order["first"] != order["second"]:
        return order["first"] + "\n" + " " * (len(order[0]) - 2)
    return " " * len(order[0])


@lru_cache(maxsize=512)
def _labels_pattern(labels: tuple[str, ...]) -> re.Pattern[str]:
    names = any_of([flexible(label) for label in labels])
    return re.compile(rf"(?<![\w']){_OF_A_TEXT}(?P<word>{names})(?!\w)", re.I)


def _bare_label(label: str) -> str:
    """Normalise a label, so that differences in case, spaces and emphasis do not count."""
    return " ".join(without_markup(plain_characters(label)).split()).casefold()
