"""Find the rating in a reply, or name the reason why there is none. Pure.

Each number in a reply is judged by its position. It is a rating

    after a name          "Coherence: 4"  "**Score**: 4/5"  "连贯性：4分"  "| Coherence | 4 |"
    alone at a line start "4"  "4."  "- 4"  "4 (good)"  "4 because it reads well"  "Four"

and so is a word in such a position that names a point ("Yes"). If all ratings in such positions
agree, the first counts; if they differ, none does. Only a reply without any is read as prose, and
only if it is complete: "I would give it a 4", "a pleasure to read (4).", "4 out of 5".

A number anywhere else is not a rating, because replies quote the texts they judge ("The man, 5, was
found"), count ("2 sentences are wrong"), list ("1. The text …"), repeat the scale ("1-5") and
refuse ("I cannot give 5 out of 5"). A number that is part of a longer expression is an error, never
read in part: "4/10" on a scale from 1 to 5, "3-4", "3 or 4", "4 5". A number at the end of a
truncated reply may continue ("1" of "1-5"), so it is not a rating either: truncation never changes
a rating.
"""

import heapq
import itertools
import math
import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from geval.llm import reply_words as words
from geval.llm.replies import ReplyChoice
from geval.statistics.scales import Scale, short
from geval.texts.sentences import excerpt


class Reason(StrEnum):
    """Why a reply or an item has no score. The value is stored; pages show `explanation`."""

    EMPTY = "empty"
    REFUSAL = "refusal"
    CUT = "cut"
    NO_RATING = "no_rating"
    TWO_RATINGS = "two_ratings"
    OUT_OF_SCALE = "out_of_scale"
    SCHEMA = "schema"
    BETWEEN_POINTS = "between_points"
    NO_LOGPROBS = "no_logprobs"
    SPLIT_NUMBER = "split_number"
    LOW_COVERAGE = "low_coverage"
    PROMPT = "prompt"
    CONTEXT = "context"
    ENDPOINT = "endpoint"
    NO_TEXT = "no_text"
    EMPTY_OUTPUT = "empty_output"
    TOO_LONG = "too_long"
    UNDEFINED = "undefined"
    TOKENS = "tokens"
    NO_SCORE = "no_score"
    EVALUATOR = "evaluator"
    UNFORESEEN = "unforeseen"
    WORKER_LOST = "worker_lost"

    @property
    def explanation(self) -> str:
        return _EXPLANATIONS[self]


_EXPLANATIONS = {
    Reason.EMPTY: "The reply was empty.",
    Reason.REFUSAL: "The model refused to answer.",
    Reason.CUT: "The reply was cut off before a rating; allow more tokens.",
    Reason.NO_RATING: "The reply contains no rating.",
    Reason.TWO_RATINGS: "The reply contains different ratings, but one was requested.",
    Reason.OUT_OF_SCALE: "The rating is outside the criterion's scale.",
    Reason.SCHEMA: "The reply breaks the JSON schema that it was asked to follow.",
    Reason.BETWEEN_POINTS: (
        "The rating is between two points, so its token has no separate probability."
    ),
    Reason.NO_LOGPROBS: "The endpoint returned no log-probabilities; use another scoring mode.",
    Reason.SPLIT_NUMBER: (
        "The model splits two-digit ratings into several tokens, so their probabilities are "
        "unknown."
    ),
    Reason.LOW_COVERAGE: (
        "The points of the scale have less of the probability than the judge's minimum coverage."
    ),
    Reason.PROMPT: "The prompt needs something that this document does not have.",
    Reason.CONTEXT: (
        "The prompt is longer than the model's context; choose a model with a larger one."
    ),
    Reason.ENDPOINT: "The endpoint refused the request, or failed too often.",
    Reason.NO_TEXT: "The evaluator needs a text that this document does not have.",
    Reason.EMPTY_OUTPUT: (
        "The output is empty, and the evaluator is not defined for an empty text."
    ),
    Reason.TOO_LONG: (
        "A text is longer than the model accepts; choose to cut texts, or another model."
    ),
    Reason.UNDEFINED: "The score is not defined for these texts.",
    Reason.TOKENS: "The endpoint's tokens cannot be matched with the text that was sent.",
    Reason.NO_SCORE: "Another judge that this one depends on has not scored the output.",
    Reason.EVALUATOR: "The evaluator failed on this output.",
    Reason.UNFORESEEN: (
        "An unexpected error occurred. Retry these items; if it happens again, report it."
    ),
    Reason.WORKER_LOST: (
        "Workers stopped repeatedly while they judged this item. Retry it once the cause is fixed."
    ),
}


@dataclass(frozen=True)
class Rating:
    """A rating in a text: its value and the position of its first character."""

    value: float
    position: int
    text: str


@dataclass(frozen=True)
class Failure:
    """A reply without a rating, with the reason and a sentence that quotes the reply."""

    reason: Reason
    detail: str


# Replies come from untrusted servers, so parsing must take linear, not quadratic, time: numbers are
# searched with a pattern without lookahead, and the surroundings of each are matched within a
# window.
_NUMBER = re.compile(r"(?<![A-Za-z\d])(?<!\d[.,])(?:(?<![\w)])[-−])?(?:\d+(?:[.,]\d+)?|[.,]\d+)")
_BEFORE, _LEAD = 140, 40
# The number of a list item at the end of a text, with nothing after it.
_ITEM_BEFORE = re.compile(r"(?:^|\n)[^\S\n]{0,9}(?P<item>\d{1,3})[.)][^\S\n]{1,9}\Z")
# A broken model may repeat numbers endlessly, and each is compared with many patterns.
_MOST_NUMBERS = 1000
# No pattern looks further than this after a number; explanations of points are searched in a
# shorter range, as they directly follow it.
_AFTER, _EXPLANATION = 80, 60
# The quote is part of a message that lists may show in one line.
_QUOTED_CHARACTERS = 120
_SHORT_REPLY = 40
# Longer replies are cut; no rating is searched beyond this length.
LONGEST_REPLY = 200_000
# A number with more digits is not a rating, and converting it takes time.
_MOST_DIGITS = 20
_DIGIT = re.compile(r"\d")
# The highest points of scales on which a percentage is a rating.
_PERCENT_SCALES = (1, 100)


def _any_of(patterns: Collection[str]) -> str:
    """Join alternatives, longest first, as the first that matches counts."""
    return "|".join(sorted(patterns, key=len, reverse=True))


_GAP = r"[^\S\n]{0,9}"
# A scale that a form repeats between a name and its rating: "Coherence (1-5):".
_IN_BRACKETS = r"\s{0,9}(?:\([^)\n]{0,80}\)\s{0,9})?"
_DIGITS = r"\d{1,21}(?:[.,]\d{1,21})?"
_LETTER = "A-Za-zÀ-ɏ"
# A bullet, or the number of a form with a single line; "A: " as in question and answer, or an
# article; then an opening bracket or quotation mark.
_LINE_LEAD = re.compile(
    rf"{_GAP}(?:[-•+–][^\S\n]{{1,9}}|•)?(?:1[.)][^\S\n]{{1,9}})?"
    rf"(?:(?:[A-F]:|[Aa]n?)[^\S\n])?[(\['|]?{_GAP}"
)
_PERCENT = re.compile(rf"{_GAP}%")
_TO, _JOINS = _any_of([*words.TO, *words.AND]), _any_of([*words.TO, *words.AND, *words.OR])
_UNIT = re.compile(rf"{_GAP}(?:{_any_of(words.UNITS)})(?![A-Za-z])", re.I)
_TOP = re.compile(
    rf"{_GAP}(?:(?:{_any_of(words.OUT_OF)}){_GAP}|[(（]?满分为?)(?P<top>{_DIGITS})(?![A-Za-z\d%])",
    re.I,
)
_SECOND = re.compile(
    rf"{_GAP}(?:[-–—~]|,?{_GAP}(?:{_JOINS})(?![A-Za-z])){_GAP}"
    rf"(?:an?[^\S\n])?(?P<second>{_DIGITS})|{_GAP}[,;&]?{_GAP}(?P<next>{_DIGITS})",
    re.I,
)
# What may follow a rating: the end, punctuation without a digit after it, or words that begin a
# reason.
_MARKS = r"$|[\n;!?)\]}'’”(（）。，；！？、|]|[.,:/](?!\d)"
_ENDS = re.compile(
    rf"{_GAP}(?:{_MARKS}|[-–—]|(?:{_any_of(words.REASON_WORDS)})(?![{_LETTER}]))", re.I
)
_WORD_ENDS = re.compile(
    rf"{_GAP}(?:{_MARKS}|[^\S\n][-–—]|(?:{_any_of(words.REASON_WORDS)})(?![{_LETTER}]))", re.I
)
_LETTER_WINS = re.compile(r" (?:is|was) (?:[a-z]{1,15} )?(?:better|preferred|superior|stronger)\b")
_SENTENCE = re.compile(rf"[^\S\n]{{1,9}}(?:{_any_of(words.SENTENCE_WORDS)})\b")
# "1. The text", "2) Grammar", "4: good": a number that counts lines or explains a point.
_COUNTS_LINES = re.compile(rf"[.):]{_GAP}[^\s\d]|[.)][^\S\n]{{1,9}}\d|:{_GAP}(?:\n|$)")
_EXPLAINS_POINT = re.compile(rf"(?<![\w.,])\d{{1,3}}{_GAP}[-–—:=]")
_VERB = re.compile(
    rf"(?<![{_LETTER}])(?:{_any_of(words.RATING_VERBS)})(?![{_LETTER}])[^.!?\n\d]{{0,60}}$", re.I
)
_NEGATION = re.compile("|".join(words.NEGATIONS), re.I)
_POSSIBLE = re.compile("|".join(words.POSSIBLE), re.I)
# Text after these cannot belong to a number before them.
_NEXT_WORD = re.compile(
    rf"{_GAP}(?:[.;!?][^\S\n]{{1,9}}[^\W\d]|,[^\S\n]{{1,9}}"
    rf"(?!(?:{_JOINS})\b)[^\W\d]{{2,20}}[^\S\n])",
    re.I,
)
_SENTENCE_END = re.compile(r"[.!?\n。！？]")
_NUMBER_WORD = re.compile(
    rf"(?<![{_LETTER}])(?:{_any_of(words.NUMBER_WORDS)})(?![{_LETTER}])", re.I
)
_REFUSAL = re.compile(
    "|".join(rf"\b(?:{word})" if word.isascii() else word for word in words.REFUSALS), re.I
)
# Includes the marks of tokenizers for the beginning of a word.
_MARKUP = re.compile(r"[*_`#>\"{}<$“”▁Ġ]")
_OF_A_TEXT = r"(?:(?:text|summary|response|output|option|answer)[^\S\n])?"


@dataclass(frozen=True)
class _Number:
    """A number in a reply with its attachments: a percent sign, a unit, the highest point ("/5"), a
    second number ("or 4"). `end` is after all of them."""

    start: int
    end: int
    value: float
    text: str
    top: float | None
    second: float | None
    has_unit: bool
    is_percent: bool

    @property
    def is_word(self) -> bool:
        return not any(character.isdecimal() for character in self.text)


@dataclass(frozen=True)
class _Names:
    """Patterns of a rating's name: right before the number in a form ("Coherence (1-5): "), or
    earlier in a sentence ("the coherence of this text is "). Both end where the number begins."""

    form: re.Pattern[str]
    sentence: re.Pattern[str]


def parse_rating(
    choice: ReplyChoice, *, scale: Scale, criterion: str, others: Collection[str] = ()
) -> Rating | Failure:
    """Find the rating of a reply.

    Args:
        choice: the reply; where it has tokens, positions refer to their joined text.
        scale: ratings outside it are failures; a value between two points is a rating (20-sample
            replies contain such values).
        criterion: the criterion's name, which the form asks the model to repeat.
        others: other criteria that the same form asks for; only the part after this criterion's
            name counts.
    """
    text = reply_text(choice)
    failure = no_text(choice, text)
    if failure:
        return failure
    part = _part_about(text, criterion, others) if others else text
    ratings = _ratings_in(part, scale, criterion, is_cut=choice.is_cut)
    if not ratings:
        return _no_rating(choice, text)
    values: dict[float, Rating] = {}
    for rating in ratings:
        if isinstance(rating, Failure):
            return rating
        values.setdefault(rating.value, rating)
    if len(values) > 1:
        listed = ", ".join(short(value) for value in list(values)[:5])
        return Failure(
            Reason.TWO_RATINGS, f"The reply rates differently in one form ({listed}): {quote(text)}"
        )
    rating = next(iter(values.values()))
    if not scale.holds(rating.value):
        return Failure(
            Reason.OUT_OF_SCALE,
            f"{short(rating.value)} is outside the scale {scale}: {quote(text)}",
        )
    return rating


def parse_first_digit(choice: ReplyChoice) -> Rating | Failure:
    """Read a rating by the rule of published releases (Chiang and Lee, 2023): the first digit,
    whatever surrounds it.

    It reads "2.5" as 2 and "1. Coherence: 3" as 1, and ignores the scale; it exists to reproduce
    published figures.
    """
    text = reply_text(choice)
    digit = re.search(r"\d", text)
    if digit:
        return Rating(float(digit[0]), digit.start(), digit[0])
    return no_text(choice, text) or _no_rating(choice, text)


def spelled_number(text: str) -> str:
    """Return a number in ASCII digits, where a text is only a number in words or in another
    script's digits; return any other text unchanged."""
    plain = plain_characters(text)
    number = words.NUMBER_WORDS.get(plain.casefold())
    return plain if number is None else str(number)


def reply_text(choice: ReplyChoice) -> str:
    """Return the text to which positions refer: the joined tokens where there are any; at most
    LONGEST_REPLY characters."""
    text = "".join(token.text for token in choice.tokens) if choice.tokens else choice.text
    return text[:LONGEST_REPLY]


def quote(text: str) -> str:
    """Shorten a reply for a message."""
    return f"“{excerpt(text[: 10 * _QUOTED_CHARACTERS], _QUOTED_CHARACTERS)}”"


def _ratings_in(text: str, scale: Scale, criterion: str, *, is_cut: bool) -> list[Rating | Failure]:
    """Return the ratings that a reply states, in order; a Failure where a number is not a rating on
    its own ("4/10" on a scale from 1 to 5, "3 or 4").

    Forms count, and so does prose before them: a reply that is cut between the two shows the prose
    alone, which must not give a different number than the whole reply.
    """
    plain = _mask_scale_range(_plain(text), scale)
    criterion, plain = _without_digits_in(criterion, plain)
    names = _names_of(criterion)
    form: list[Rating | Failure] = []
    prose: list[Rating | Failure] = []
    for word in _named_points(plain, scale, names):
        if not is_cut or _is_closed(plain, word.position + len(word.text)):
            form.append(word)
    numbers = list(_numbers(plain))
    for number in numbers:
        if is_cut and not _is_closed(plain, number.end):
            if form and names.form.search(_before(plain, number.start)):
                return []  # it may contradict the earlier rating, or be the rating itself
            continue
        if _is_share(number, scale) or _is_section(plain, number):
            continue
        if _stands_in_form(plain, number, names):
            form.append(_as_rating(plain, number, scale, text))
        elif _is_stated(plain, number, names, scale):
            prose.append(_as_rating(plain, number, scale, text))
    stated = [rating for rating in prose if isinstance(rating, Rating)]
    if form:
        failed = [rating for rating in form if isinstance(rating, Failure)]
        rated = sorted(
            (rating for rating in form if isinstance(rating, Rating)),
            key=lambda rating: rating.position,
        )
        return [*failed] or [
            *rated,
            *(statement for statement in stated if statement.position < rated[0].position),
        ]
    if prose:
        on_scale = (rating for rating in stated if scale.holds(rating.value))
        return [*on_scale] or prose[:1]
    return [] if is_cut else _lone_rating(plain, numbers, scale, text)


def _numbers(plain: str) -> Iterator[_Number]:
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


def _with_company(plain: str, match: re.Match[str]) -> _Number:
    """Return a number with its attachments."""
    percent = _PERCENT.match(plain, match.end())
    unit = None if percent else _UNIT.match(plain, match.end())
    end = (percent or unit or match).end()
    top = _TOP.match(plain, end)
    if top:
        behind = _UNIT.match(plain, top.end())
        unit, end = behind or unit, (behind or top).end()
    second = _SECOND.match(plain, end)
    return _Number(
        start=match.start(),
        end=second.end() if second else end,
        value=_value(match[0]),
        text=match[0][:_MOST_DIGITS],
        top=_value(top["top"]) if top else None,
        second=_value(second["second"] or second["next"]) if second else None,
        has_unit=unit is not None,
        is_percent=percent is not None,
    )


def _stands_in_form(plain: str, number: _Number, names: _Names) -> bool:
    """Return whether a number is where a form has its rating: after a name, or alone at the start
    of a line."""
    begins_line = _begins_line(plain, number.start)
    if (
        begins_line
        and _COUNTS_LINES.match(plain, number.start + len(number.text))
        and not plain.endswith(("A ", "a "), 0, number.start)  # "A 4. The …" is not a list
    ):
        return False
    ends = bool((_WORD_ENDS if number.is_word else _ENDS).match(plain, number.end))
    if begins_line and (ends or (not number.is_word and _SENTENCE.match(plain, number.end))):
        return True
    return ends and bool(names.form.search(_before(plain, number.start)))


def _is_stated(plain: str, number: _Number, names: _Names, scale: Scale) -> bool:
    """Return whether prose states a number as its rating: "I would give it a 4", "the coherence of
    this text is 4", "4 out of 5"."""
    if number.is_word or not _ENDS.match(plain, number.end):
        return False
    before = _before(plain, number.start)
    sentence = _SENTENCE_END.split(before)[-1]
    introduces = plain.startswith(":", number.end) or before.endswith("from ")
    if introduces or _NEGATION.search(sentence) or _POSSIBLE.search(sentence):
        return False
    return (
        number.top == scale.highest
        or bool(_VERB.search(before))
        or bool(names.sentence.search(before))
    )


def _lone_rating(
    plain: str, numbers: Sequence[_Number], scale: Scale, text: str
) -> list[Rating | Failure]:
    """Return the only number of a reply if it is in brackets at the end, or has a unit or follows a
    colon in a short reply."""
    match numbers:
        case [number] if not (number.is_word or _is_share(number, scale)):
            before, after = plain[: number.start].rstrip(), plain[number.end :].strip()
            in_brackets = before[-1:] in ("(", "[") and after[:1] in (")", "]")
            ends_reply = len(after) <= 9 and not any(map(str.isalnum, after))
            is_short = len(plain.strip()) <= _SHORT_REPLY
            if (ends_reply and not _NEGATION.search(plain)) and (
                in_brackets or (is_short and (number.has_unit or before[-1:] in (":", "：")))
            ):
                return [_as_rating(plain, number, scale, text)]
    return []


def _is_share(number: _Number, scale: Scale) -> bool:
    """Return whether a percentage is a share of something else, not a rating on a scale of
    shares."""
    return number.is_percent and scale.highest not in _PERCENT_SCALES


def _as_rating(plain: str, number: _Number, scale: Scale, text: str) -> Rating | Failure:
    """Return a number in a rating's position as a rating, or the failure that its attachments
    imply."""
    written = plain[number.start : number.end].strip()
    if number.top is not None and number.top != scale.highest:
        return Failure(Reason.OUT_OF_SCALE, f"{written} is not on the scale {scale}: {quote(text)}")
    if number.second is not None and number.second != number.value:
        return Failure(
            Reason.TWO_RATINGS, f"The reply names two ratings ({written}): {quote(text)}"
        )
    rest = plain[number.end : number.end + _EXPLANATION].partition("\n")[0]
    if rest.lstrip()[:1] in ("-", "–", "—", "(", "=") and _EXPLAINS_POINT.search(rest):
        return Failure(Reason.TWO_RATINGS, f"The reply explains several points: {quote(text)}")
    value = number.value * scale.highest / 100 if number.is_percent else number.value
    return Rating(value, number.start, number.text)


def _is_closed(plain: str, end: int) -> bool:
    """Return whether enough of a truncated reply follows to decide about the text before `end`: no
    pattern looks beyond the end of the line, of a window, or the beginning of the next sentence."""
    return (
        len(plain) - end >= _AFTER
        or "\n" in plain[end:]
        or _NEXT_WORD.match(plain, end) is not None
    )


def _is_section(plain: str, number: _Number) -> bool:
    """Return whether a number is a section number in a list, such as 1.1 in the line "1. 1.1"."""
    item = _ITEM_BEFORE.search(_before(plain, number.start))
    return item is not None and number.text.startswith(f"{item['item']}.")


def _before(plain: str, start: int) -> str:
    return plain[max(0, start - _BEFORE) : start]


def _begins_line(plain: str, start: int) -> bool:
    """Return whether only a bullet or a bracket precedes a position in its line."""
    line = _line_start(plain, start)
    return line is not None and bool(_LINE_LEAD.fullmatch(plain, line, start))


def _line_start(plain: str, place: int) -> int | None:
    """Return where the line of a position begins; None if that is further away than the longest
    bullet."""
    begins = plain.rfind("\n", max(0, place - _LEAD), place) + 1
    return None if begins == 0 and place > _LEAD else begins


def _part_about(text: str, criterion: str, others: Collection[str]) -> str:
    """Blank out everything in a form but the part after a criterion's name; every character keeps
    its position."""
    names = _any_of([_flexible(name) for name in (criterion, *others)])
    heading = re.compile(
        rf"(?<![{_LETTER}\d])({names})(?![{_LETTER}\d]){_IN_BRACKETS}[:：=|]", re.I
    )
    plain = _plain(text)
    headings = list(heading.finditer(plain))
    starts = [_heading_start(plain, match.start()) for match in headings]
    pattern = re.compile(_flexible(criterion), re.I)
    shown = [" "] * len(text)
    # Without any heading the list of ends is longer, and everything stays blank.
    for match, end in zip(headings, [*starts[1:], len(text)], strict=False):
        if pattern.fullmatch(match[1]):
            shown[match.start() : end] = text[match.start() : end]
    return "".join(shown)


def _heading_start(plain: str, name: int) -> int:
    """Return where the heading with this name begins: at the bullet or number before it."""
    line = _line_start(plain, name)
    return name if line is None or any(map(str.isalpha, plain[line:name])) else line


def no_text(choice: ReplyChoice, text: str) -> Failure | None:
    """Return why a reply has no answer: refused, cut or empty; None if it has one."""
    if choice.refusal or choice.finish_reason == "content_filter":
        words_of_refusal = choice.refusal or text or "content filter"
        return Failure(Reason.REFUSAL, f"The model refused: {quote(words_of_refusal)}")
    if text.strip():
        return None
    if choice.is_cut:
        thinking = "while the model was still thinking" if choice.thought else "before any text"
        return Failure(Reason.CUT, f"The reply was cut off {thinking}; allow more tokens.")
    return Failure(Reason.EMPTY, choice.why_empty or Reason.EMPTY.explanation)


def _no_rating(choice: ReplyChoice, text: str) -> Failure:
    if _REFUSAL.search(text):
        return Failure(Reason.REFUSAL, f"The model refused: {quote(text)}")
    if choice.is_cut:
        return Failure(Reason.CUT, f"The reply was cut off before a rating: {quote(text)}")
    return Failure(Reason.NO_RATING, f"The reply contains no rating: {quote(text)}")


def _plain(text: str) -> str:
    """Convert digits to ASCII, and marks of emphasis, quotation and JSON to spaces; every character
    keeps its position."""
    return _MARKUP.sub(" ", plain_characters(text))


def plain_characters(text: str) -> str:
    """Convert full-width characters and digits of any script to ASCII; every character keeps its
    position."""
    return text if text.isascii() else "".join(map(_ascii_character, text))


@lru_cache(maxsize=4096)
def _ascii_character(character: str) -> str:
    if (digit := unicodedata.decimal(character, None)) is not None:
        return str(digit)
    normal = unicodedata.normalize("NFKC", character)
    return normal if len(normal) == 1 else character


def _mask_scale_range(text: str, scale: Scale) -> str:
    """Blank out the scale where the reply repeats it ("1-5", "1 (worst) to 5"), so that its ends
    are not read as ratings."""
    ends = _range_pattern(short(scale.lowest), short(scale.highest))
    return ends.sub(lambda match: " " * len(match.group()), text)


@lru_cache(maxsize=512)
def _range_pattern(lowest: str, highest: str) -> re.Pattern[str]:
    return re.compile(
        rf"(?<![\d.,]){re.escape(lowest)}(?![\d.,]\d){_GAP}(?:\([^)\n]{{0,30}}\){_GAP})?"
        rf"(?:[-–—~]|(?:{_TO})(?![A-Za-z])){_GAP}{re.escape(highest)}(?!\.?\d)",
        re.I,
    )


def _without_digits_in(criterion: str, plain: str) -> tuple[str, str]:
    """Replace the digits of a criterion's name by letters, in it and in the reply where the name
    precedes a rating ("Step 2: 4"): they are not ratings. Every character keeps its position."""
    if not any(map(str.isdecimal, criterion)):
        return criterion, plain
    heading = _heading_of(criterion)
    return _DIGIT.sub("x", criterion), heading.sub(lambda name: _DIGIT.sub("x", name[0]), plain)


@lru_cache(maxsize=512)
def _heading_of(criterion: str) -> re.Pattern[str]:
    """Return the pattern of a criterion's name where it precedes a rating in a form."""
    return re.compile(
        rf"(?<![{_LETTER}\d])(?:{_flexible(criterion)})(?={_IN_BRACKETS}(?:[:：=|]|\s[-–—]\s))",
        re.I,
    )


@lru_cache(maxsize=512)
def _names_of(criterion: str) -> _Names:
    """Return the patterns of the names of a criterion's rating."""
    patterns = [_flexible(criterion)] if _plain(criterion).strip() else []
    name = rf"(?<![{_LETTER}\d])(?:{_any_of([*map(re.escape, words.RATING_NAMES), *patterns])})"
    copulas = _any_of([word if not word.isascii() else rf"\b{word}\b" for word in words.COPULAS])
    form = (
        rf"(?:{name}{_IN_BRACKETS}"
        rf"(?:[:=：|→]|->|[-–—](?=\s)|{copulas})[\s|]{{0,9}}(?:[-•][^\S\n]{{1,9}})?|\\boxed\s)"
        rf"(?:an?[^\S\n])?[(\[']?\s?$"
    )
    links = _any_of(words.LINKS)
    sentence = (
        rf"(?:{name}(?![{_LETTER}\d])[^.!?\n\d]{{0,60}}\b(?:{links})\b"
        rf"|\b(?:the|this) (?:{_any_of(words.RATED)}) is)\s{{0,3}}(?:an?\s)?$"
    )
    return _Names(re.compile(form, re.I), re.compile(sentence, re.I))


def _flexible(name: str) -> str:
    """Return a pattern for a name as replies write it: any run of spaces for what `_plain` blanks
    out, and accents combined or separate."""
    spellings = {unicodedata.normalize(form, name) for form in ("NFC", "NFD")} | {name}
    return "|".join(
        sorted(r"\s{1,9}".join(map(re.escape, _plain(spelling).split())) for spelling in spellings)
    )


def _value(written: str) -> float:
    word = words.NUMBER_WORDS.get(written.casefold())
    if word is not None:
        return float(word)
    if len(written) > _MOST_DIGITS:
        return math.inf
    return float(written.replace(",", ".").replace("−", "-"))


def _named_points(plain: str, scale: Scale, names: _Names) -> Iterator[Rating]:
    """Yield words that name points, such as Yes and No, where a form has its rating; elsewhere in a
    sentence they are ordinary words."""
    if not scale.words:
        return
    points = {_bare_label(label): point for label, point in scale.words.items()}
    labels = _labels_pattern(tuple(scale.words))
    for match in itertools.islice(labels.finditer(plain), _MOST_NUMBERS):
        word = match["word"]
        if len(word) == 1 and word not in scale.words:
            continue  # "a" is an article
        ends = _WORD_ENDS.match(plain, match.end()) or (
            len(word) == 1 and _LETTER_WINS.match(plain, match.end())
        )
        starts = _begins_line(plain, match.start()) or names.form.search(
            _before(plain, match.start())
        )
        if ends and starts:
            yield Rating(points[_bare_label(word)], match.start("word"), word)


@lru_cache(maxsize=512)
def _labels_pattern(labels: tuple[str, ...]) -> re.Pattern[str]:
    names = _any_of([_flexible(label) for label in labels])
    return re.compile(rf"(?<![\w']){_OF_A_TEXT}(?P<word>{names})(?!\w)", re.I)


def _bare_label(label: str) -> str:
    """Normalise a label, so that differences in case, spaces and emphasis do not count."""
    return " ".join(_plain(label).split()).casefold()
