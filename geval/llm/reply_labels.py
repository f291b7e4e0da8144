"""Words that name points of a scale, such as Yes and No, or the better of two texts. Pure."""

import itertools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from geval.llm.rating_names import CRITERION, LETTER, Closeness, any_of, flexible
from geval.llm.reply_lines import is_chosen, place_closeness, revises
from geval.llm.reply_numbers import WORD_ENDS
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
    r"[ \t,.;:!…/&>→–—-]{1,9}(?:\s{0,3}(?:\b(?:wait|actually|but|or|and|rather|well|hmm|sorry|then"
    r"|in fact|on reflection|correction|also|it is|the answer is|aber|doch|moment|eigentlich|mais"
    r"|en fait|pero)\b|但是?|等等|其实|いや|しかし)[\s,.:;!…–—-]{0,9}){0,4}",
    re.I,
)
_ORDER = re.compile(
    r"\b(?P<first>[A-C])[^\S\n]{0,3}(?P<sign>>{1,3}|<{1,3}|=|≈|,)[^\S\n]{0,3}(?P<second>[A-C])\b"
)


@dataclass(frozen=True)
class Label:
    """A word that names a point, where a form has its rating; whether another point follows."""

    point: float
    start: int
    end: int
    text: str
    closeness: Closeness
    is_contradicted: bool


def labels_in(plain: str, scale: Scale) -> Iterator[Label]:
    """Yield words that name points, such as Yes and No, where a form has its rating; elsewhere in a
    sentence they are ordinary words."""
    if not scale.words:
        return
    points = {_bare_label(label): point for label, point in scale.words.items()}
    labels = _labels_pattern(tuple(scale.words))
    is_pair = {"A", "B"} <= set(scale.words)
    if is_pair:
        plain = _ORDER.sub(_winner_alone, plain)
    described = set(_DESCRIBED.findall(plain))
    described = described if len(described) > 1 else set()
    for match in itertools.islice(labels.finditer(plain), _MOST_WORDS):
        word = match["word"]
        if len(word) == 1 and word not in scale.words:
            continue  # "a" is an article
        if is_pair and _LETTER_LOSES.match(plain, match.end()):
            continue
        if is_pair and match["word"] in described and _DESCRIBED.match(plain, match.start("word")):
            continue
        ends = WORD_ENDS.match(plain, match.end()) or (
            len(word) == 1 and _LETTER_WINS.match(plain, match.end())
        )
        if not ends:
            continue
        point = points[_bare_label(word)]
        closeness = place_closeness(plain, match.start(), match.end(), is_word=True)
        span = match.span("word")
        if closeness or (is_pair and is_chosen(plain, *match.span())) or revises(plain, *span):
            contradicted = _is_contradicted(plain, match.end(), point, points, labels)
            start, end = match.start("word"), match.end()
            yield Label(point, start, end, word, closeness or Closeness.RATING, contradicted)


def _is_contradicted(
    plain: str, end: int, point: float, points: Mapping[str, float], labels: re.Pattern[str]
) -> bool:
    """Return whether another point follows a word that names one: "Yes, no", "Yes (0)"."""
    number = _POINT_AFTER.match(plain, end)
    if number:
        return float(number[1]) != point
    gap = _TO_NEXT_WORD.match(plain, end)
    other = gap and labels.match(plain, gap.end())
    return bool(
        other
        and points[_bare_label(other["word"])] != point
        and WORD_ENDS.match(plain, other.end())
    )


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
