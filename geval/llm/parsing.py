"""Find the rating in a reply, or name the reason why there is none. Pure.

A reply is read in three levels. Structure comes first: elements, JSON, tables and marks such as
\\boxed{4} become lines with what is named like the rating (`reply_structure.py`). Then lines of a
form, where a number is a rating

    after a name          "Coherence: 4"  "**Score**: 4/5"  "连贯性：4分"
    alone at a line start "4"  "4."  "- 4"  "4 (good)"  "4 because it reads well"  "Four"

and so is a word in such a position that names a point ("Yes"). If all ratings in such positions
agree, the first counts; if they differ, none does. Prose comes last, and only where its subject is
the judge, the text or the criterion (`reply_lines.py`): "I would give it a 4", "4 out of 5".

A number anywhere else is not a rating, because replies quote the texts they judge ("The man, 5, was
found"), count ("2 sentences are wrong"), list ("1. The text …"), repeat the scale ("1-5") and
refuse ("I cannot give 5 out of 5"). A number that is part of a longer expression is an error, never
read in part: "4/10" on a scale from 1 to 5, "3-4", "3 or 4", "4 5". A number at the end of a
truncated reply may continue ("1" of "1-5"), so it is not a rating either: truncation never changes
a rating, unless it removes the sentence that revises it ("I change my rating to 3").
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum

from geval.llm import reply_words as words
from geval.llm.rating_names import Closeness, Names, any_of
from geval.llm.replies import ReplyChoice
from geval.llm.reply_labels import labels_in
from geval.llm.reply_lines import (
    HEADING,
    concludes,
    form_closeness,
    heading_closeness,
    is_section,
    is_stated,
    part_about,
    revises,
)
from geval.llm.reply_numbers import GAP, Number, highest_before, numbers_in
from geval.llm.reply_structure import opened
from geval.llm.reply_text import (
    plain_characters,
    readable,
    with_counted_stars,
    without_markup,
    without_quotations,
    without_scale,
)
from geval.statistics.scales import NO_POINT, Scale, short
from geval.texts.sentences import excerpt


class Reason(StrEnum):
    """Why a reply or an item has no score. The value is stored; pages show `explanation`."""

    explanation: str

    def __new__(cls, value: str, explanation: str = "") -> "Reason":
        reason = str.__new__(cls, value)
        reason._value_, reason.explanation = value, explanation
        return reason

    EMPTY = "empty", "The reply was empty."
    REFUSAL = "refusal", "The model refused to answer."
    CUT = "cut", "The reply was cut off before a rating; allow more tokens."
    NO_RATING = "no_rating", "The reply contains no rating."
    TWO_RATINGS = "two_ratings", "The reply contains different ratings, but one was requested."
    OUT_OF_SCALE = "out_of_scale", "The rating is outside the criterion's scale."
    SCHEMA = "schema", "The reply breaks the JSON schema that it was asked to follow."
    BETWEEN_POINTS = (
        "between_points",
        "The rating is between two points, so its token has no separate probability.",
    )
    NO_LOGPROBS = (
        "no_logprobs",
        "The endpoint returned no log-probabilities; use another scoring mode.",
    )
    SPLIT_NUMBER = (
        "split_number",
        "The model splits two-digit ratings into several tokens, so their probabilities are "
        "unknown.",
    )
    LOW_COVERAGE = (
        "low_coverage",
        "The points of the scale have less of the probability than the judge's minimum coverage.",
    )
    PROMPT = "prompt", "The prompt needs something that this document does not have."
    CONTEXT = (
        "context",
        "The prompt is longer than the model's context; choose a model with a larger one.",
    )
    ENDPOINT = "endpoint", "The endpoint refused the request, or failed too often."
    NO_TEXT = "no_text", "The evaluator needs a text that this document does not have."
    EMPTY_OUTPUT = (
        "empty_output",
        "The output is empty, and the evaluator is not defined for an empty text.",
    )
    TOO_LONG = (
        "too_long",
        "A text is longer than the model accepts; choose to cut texts, or another model.",
    )
    UNDEFINED = "undefined", "The score is not defined for these texts."
    TOKENS = "tokens", "The endpoint's tokens cannot be matched with the text that was sent."
    NO_SCORE = "no_score", "Another judge that this one depends on has not scored the output."
    EVALUATOR = "evaluator", "The evaluator failed on this output."
    UNFORESEEN = (
        "unforeseen",
        "An unexpected error occurred. Retry these items; if it happens again, report it.",
    )
    WORKER_LOST = (
        "worker_lost",
        "Workers stopped repeatedly while they judged this item. Retry it once the cause is fixed.",
    )


@dataclass(frozen=True)
class Rating:
    """A rating in a text: its value, NO_POINT for "n/a", and the position of its first
    character."""

    value: float
    position: int
    text: str


@dataclass(frozen=True)
class Failure:
    """A reply without a rating, with the reason and a sentence that quotes the reply."""

    reason: Reason
    detail: str


# No pattern looks further than this after a number; explanations of points are searched in a
# shorter range, as they directly follow it.
_AFTER, _EXPLANATION = 80, 60
# The quote is part of a message that lists may show in one line.
_QUOTED_CHARACTERS = 120
# Longer replies are cut; no rating is searched beyond this length.
LONGEST_REPLY = 200_000
# The highest points of scales on which a percentage is a rating.
_PERCENT_SCALES = (1, 100)
_EXPLAINS_POINT = re.compile(rf"(?<![\w.,/])\d{{1,3}}{GAP}[-–—:=]")
# A scale that is not the criterion's, which is blanked where a reply repeats it.
_OTHER_SCALE = re.compile(
    r"(?:\bscale (?:of|from) |[(\[])[01] ?(?:[-–—]|to) ?\d{1,3}(?=[)\],. ]|$)(?! [a-z])"
    r"|[(\[](?:out )?of \d{1,3}[)\]]|满分(?:为|是)?\d{1,3}|\d{1,3}(?:点満点|점 ?만점)"
)
_DIGITS = re.compile(r"\d+")
# A bracket that is no reference's: "see (4)".
_OPENING_BRACKET = re.compile(r"(?:^|\s)[(\[]$")
_REFERENCE = re.compile(r"\b(?:see|in|al|figure|fig|table|section|page|eq|step)\W*$", re.I)
_NEXT_ITEM = re.compile(r"\n[^\S\n]{0,9}2[.)][^\S\n]{1,9}\d")
# Text after these cannot belong to a number before them.
_NEXT_WORD = re.compile(
    rf"{GAP}(?:[.;!?][^\S\n]{{1,9}}[^\W\d]|,[^\S\n]{{1,9}}"
    rf"(?!(?:{any_of([*words.TO, *words.AND, *words.OR])})\b|{any_of(words.CONDITIONS)})"
    rf"[^\W\d]{{2,20}}[^\S\n])",
    re.I,
)
_NEGATION = re.compile("|".join(words.NEGATIONS), re.I)
_REFUSAL = re.compile(
    "|".join(rf"\b(?:{word})" if word.isascii() else word for word in words.REFUSALS), re.I
)
_HEADING_LINE = re.compile(
    r"^(?:[^\S\n]{0,3}#{1,6}[^\S\n][^\n\d]{1,60}|\*\*[^*\n\d]{1,60}\*\*)$", re.M
)


def parse_rating(
    choice: ReplyChoice, *, scale: Scale, criterion: str, others: Collection[str] = ()
) -> Rating | Failure:
    """Find the rating of a reply.

    Args:
        choice: the reply; positions refer to `reply_text`.
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
    lines = _lines_of(text, scale, Names.of(criterion, others), is_cut=choice.is_cut)
    part = part_about(lines) if others else lines
    ratings = _ratings_in(part, scale, text, is_cut=choice.is_cut)
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
    if rating.value != NO_POINT and not scale.holds(rating.value):
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


def reply_text(choice: ReplyChoice) -> str:
    """Return the text to which positions refer: the message, or its joined tokens where it has no
    text; at most LONGEST_REPLY characters."""
    text = choice.text or "".join(token.text for token in choice.tokens or ())
    return text[:LONGEST_REPLY]


def spelled_number(text: str) -> str:
    """Return a number in ASCII digits, where a text is only a number in words or in another
    script's digits; return any other text unchanged."""
    plain = plain_characters(text)
    number = words.NUMBER_WORDS.get(plain.casefold())
    return plain if number is None else str(number)


def quote(text: str) -> str:
    """Shorten a reply for a message."""
    return f"“{excerpt(text[: 10 * _QUOTED_CHARACTERS], _QUOTED_CHARACTERS)}”"


def is_refusal(text: str) -> bool:
    """Return whether a text is a refusal to answer."""
    return _REFUSAL.search(text) is not None


def _ratings_in(plain: str, scale: Scale, text: str, *, is_cut: bool) -> list[Rating | Failure]:
    """Return the ratings that a reply's lines state, in order; a Failure where a number is not a
    rating on its own ("4/10" on a scale from 1 to 5, "3 or 4").

    Forms count, and so does prose before them: a reply that is cut between the two shows the prose
    alone, which must not give a different number than the whole reply.
    """
    form: list[tuple[Closeness, Rating | Failure]] = []
    prose: list[Rating | Failure] = []
    for closeness, label in labels_in(plain, scale):
        if not is_cut or _is_closed(plain, label.end):
            form.append((closeness, _as_rating(plain, label, scale, text)))
    numbers = list(numbers_in(plain))
    for number in numbers:
        if is_cut and not _is_closed(plain, number.end):
            # It may contradict the earlier rating, or be the rating itself.
            if form and heading_closeness(plain, number.start, number.end, is_word=False):
                return []
            continue
        if _is_share(number, scale) or is_section(plain, number):
            continue
        if (form or prose) and (revision := revises(plain, number.start, number.end)):
            if revision == Closeness.CRITERION:
                form, prose = [], []
            form.append((revision, _as_rating(plain, number, scale, text)))
            continue
        closeness = form_closeness(plain, number, scale)
        if not closeness and concludes(plain, number):
            closeness = Closeness.RATING
        if closeness:
            form.append((closeness, _as_rating(plain, number, scale, text)))
        elif is_stated(plain, number):
            prose.append(_as_rating(plain, number, scale, text))
    if form:
        return _closest(form, prose, is_cut=is_cut)
    if prose:
        on_scale = (each for each in prose if isinstance(each, Rating) and scale.holds(each.value))
        return [*on_scale] or prose[:1]
    return [] if is_cut else _lone_rating(plain, numbers, scale, text)


def _lines_of(text: str, scale: Scale, names: Names, *, is_cut: bool) -> str:
    """Return a reply as lines and sentences that can be read, with the criterion's name marked."""
    plain = _HEADING_LINE.sub(lambda line: HEADING + line[0][1:], readable(text))
    plain = with_counted_stars(_without_top(plain, scale), scale)
    plain = opened(without_scale(plain, scale), names, is_cut=is_cut)
    return without_markup(without_quotations(names.marked(plain)))


def _without_top(plain: str, scale: Scale) -> str:
    """Blank out the highest point before a rating ("满分5分，4分")."""
    if plain.isascii():
        return plain
    return highest_before(scale.highest).sub(lambda top: " " * len(top[0]), plain)


def _closest(
    form: list[tuple[Closeness, Rating | Failure]],
    prose: list[Rating | Failure],
    *,
    is_cut: bool,
) -> list[Rating | Failure]:
    """Return the ratings of a form, without overall ones where it has closer ones, and what prose
    states before them."""
    best = max(closeness for closeness, _ in form)
    if best == Closeness.OVERALL and is_cut:
        return []  # a closer one may follow
    ratings = [
        rating for closeness, rating in form if closeness > Closeness.OVERALL or closeness == best
    ]
    if failed := [rating for rating in ratings if isinstance(rating, Failure)]:
        return [*failed]
    rated = [rating for rating in ratings if isinstance(rating, Rating)]
    rated.sort(key=lambda rating: rating.position)
    first = rated[0].position
    earlier = [each for each in prose if isinstance(each, Rating) and each.position < first]
    return [*rated, *earlier]


def _lone_rating(
    plain: str, numbers: list[Number], scale: Scale, text: str
) -> list[Rating | Failure]:
    """Return the only number of a reply if it is in brackets at the end."""
    if len(numbers) != 1 or numbers[0].is_word or _is_share(numbers[0], scale):
        return []
    start, after = plain[: numbers[0].start].rstrip(), plain[numbers[0].end :].strip()
    is_last = _OPENING_BRACKET.search(start[-3:]) and re.fullmatch(r"[)\]][\W_]{0,8}", after)
    if not is_last or _NEGATION.search(plain) or _REFERENCE.search(start[-20:]):
        return []
    return [_as_rating(plain, numbers[0], scale, text)]


def _is_share(number: Number, scale: Scale) -> bool:
    """Return whether a percentage is a share of something else, not a rating on a scale of
    shares."""
    return number.is_percent and scale.highest not in _PERCENT_SCALES


def _as_rating(plain: str, number: Number, scale: Scale, text: str) -> Rating | Failure:
    """Return a number in a rating's position as a rating, or the failure that its attachments
    imply."""
    written = plain[number.start : number.end].strip()
    if number.top is not None and number.top != scale.highest:
        return Failure(Reason.OUT_OF_SCALE, f"{written} is not on the scale {scale}: {quote(text)}")
    line = plain[max(0, number.start - _AFTER) : number.end + _AFTER]
    begins = line.rfind("\n", 0, number.start - max(0, number.start - _AFTER)) + 1
    for named in _OTHER_SCALE.finditer(line[begins:].partition("\n")[0]):
        if float(_DIGITS.findall(named[0])[-1]) != scale.highest:
            detail = f"{written} is on another scale ({named[0].strip()}): {quote(text)}"
            return Failure(Reason.OUT_OF_SCALE, detail)
    if number.second is not None and number.second != number.value:
        return Failure(
            Reason.TWO_RATINGS, f"The reply names two ratings ({written}): {quote(text)}"
        )
    if line[begins:].lstrip()[:2] in ("1.", "1)") and _NEXT_ITEM.match(plain, number.end):
        return Failure(Reason.TWO_RATINGS, f"The reply lists several numbers: {quote(text)}")
    rest = plain[number.end : number.end + _EXPLANATION].partition("\n")[0]
    if rest.lstrip()[:1] in ("-", "–", "—", "(", "=", ":") and _EXPLAINS_POINT.search(rest):
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
