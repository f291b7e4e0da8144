"""Find the rating in a reply, or name the reason why there is none. Pure.

A rating is looked for in this order, and the first kind that is found decides: a number after a
name ("Coherence: 4", "Score: 4/5"), a number that begins a line ("4", "4.", "- 4", "2 (somewhat)"),
a word that names a scale point ("Yes"), a lone number in a reply of a few words ("Good (3)"), a
lone number in parentheses at the end, a number after a verb of rating ("I would give it a 4"). A
number anywhere else in prose is not a rating: replies quote the texts they judge, and "2 sentences
are wrong" counts sentences.

A number that is not alone is an error, never half of what was said: "4/10" on a scale from 1 to 5,
"3-4", "3 or 4", "4 5".
"""

import math
import re
import unicodedata
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from enum import StrEnum

from evaluations.llm.replies import ReplyChoice
from evaluations.scales import Scale, short


class Reason(StrEnum):
    """Why a reply or an item has no score. The value is stored; `explanation` is what people
    read."""

    EMPTY = "empty"
    REFUSAL = "refusal"
    CUT = "cut"
    NO_RATING = "no_rating"
    TWO_RATINGS = "two_ratings"
    OUT_OF_SCALE = "out_of_scale"
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
    """A rating found in a text: its value and where its first character stands."""

    value: float
    position: int
    text: str


@dataclass(frozen=True)
class Failure:
    """A reply without a rating, with the reason and a sentence that quotes the reply."""

    reason: Reason
    detail: str


# Replies come from servers that nobody vouches for, so every pattern takes a time that grows with
# the text, not with its square: runs of blanks and digits are possessive (`++`, never tried again
# shorter), all other repetitions are bounded.
_DIGITS = r"(?:\d++(?:[.,]\d++)?+|(?<![\d.,])\.\d++)"
# What is said with a number: a share in percent, the end of the scale ("4/5"), or a second number.
_NUMBER = (
    rf"(?P<number>[-−]?{_DIGITS})(?!\d|[.,]\d)(?P<percent>[^\S\n]?%)?+"
    r"(?P<of>\s*+(?:(?:points?|stars?)\s++)?(?:/|out of|of)\s*+(?P<top>\d++(?:[.,]\d++)?+))?+"
    r"(?P<other>[^\S\n]*+(?:[-–—]|,?+[^\S\n]*+\b(?:to|or|and)\b(?:[^\S\n]++an?\b)?+)[^\S\n]*+"
    r"(?P<second>\d++(?:[.,]\d++)?+)"
    r"|[^\S\n]*+[,;&]?[^\S\n]*+(?P<next>\d++(?:[.,]\d++)?+)(?=[^\S\n]*+(?:$|\n|[.;)\]])))?+"
)
# A number before another word counts things ("2 sentences are wrong"), unless it is one of these.
_NO_COUNT = (
    r"(?![^\S\n]++(?!(?:because|since|as|for|due|given|points?|stars?|overall|but|if|with|is|was"
    r"|would|seems)\b)[a-zß-öø-ÿ])"
)
_NAMES = r"score|rating|rate|grade|answer|response|result|evaluation|verdict"
_IN_PROSE = re.compile(
    rf"\b(?:rate[ds]?|rating|scored?|give[ns]?|assign(?:ed|s)?)\b[^.\n\d]{{0,60}}?(?<![\d.,]){_NUMBER}(?![\w-])",
    re.I,
)
# A dash is a bullet where a blank follows it; directly before a digit it is the sign of the number.
_BEGINS_LINE = re.compile(
    rf"^[^\S\n]*+(?:-[^\S\n]++|•[^\S\n]*+)?(?:\d{{1,2}}[.)][^\S\n]++(?=[-−.]?\d))?{_NUMBER}(?=$|\s|[.,;:!?)\]}}\"'(–—]){_NO_COUNT}",
    re.M,
)
_LONE = re.compile(rf"(?<![\w.,]){_NUMBER}(?!\w){_NO_COUNT}")
_ENDS_REPLY = re.compile(rf"[(\[]\s?{_NUMBER}\s?[)\]][\s.!\"']{{0,9}}$")
_REFUSAL = re.compile(
    r"\b(?:I(?:'|’)?m sorry|I am sorry|I apologi[sz]e|I (?:can(?:no|')t|can’t|won(?:'|’)t|am unable"
    r" to|am not able to)"
    r"|as an AI\b|unable to (?:assist|comply|help|rate|evaluate))",
    re.I,
)
_QUOTED_CHARACTERS = 120
_SHORT_REPLY = 40
# A reply is cut to what a model may say; a rating beyond it is not looked for.
LONGEST_REPLY = 200_000
# A number with more digits is no rating, and reading it costs time.
_MOST_DIGITS = 20
# The highest points of scales on which a percentage is a rating.
_PERCENT = (1, 100)


def parse_rating(
    choice: ReplyChoice,
    *,
    scale: Scale,
    criterion: str,
    others: Collection[str] = (),
    reasons_first: bool = False,
) -> Rating | Failure:
    """Find the rating of a reply.

    Args:
        choice: the reply; where it has tokens, positions refer to their joined text.
        scale: ratings outside it are failures; a value between two points is a rating (20-sample
            replies hold such).
        criterion: its name, which the form asks the model to repeat.
        others: the criteria that the same form asks for; only what follows this one's name counts.
        reasons_first: the reply explains before it rates: then the last rating counts, and several
            are not an error.
    """
    text = reply_text(choice)
    failed = _no_text(choice, text)
    if failed:
        return failed
    part = _part_about(text, criterion, others) if others else text
    ratings = find_ratings(part, scale=scale, criterion=criterion)
    if not ratings:
        return _nothing_found(choice, text)
    counted = ratings[-1:] if reasons_first else ratings
    values = {}
    for rating in counted:
        if isinstance(rating, Failure):
            return rating
        values[rating.value] = rating
    if len(values) > 1:
        found = ", ".join(short(value) for value in list(values)[:5])
        return Failure(
            Reason.TWO_RATINGS, f"The reply rates differently in one form ({found}): {quote(text)}"
        )
    rating = values.popitem()[1]
    if not scale.holds(rating.value):
        return Failure(
            Reason.OUT_OF_SCALE,
            f"{short(rating.value)} is outside the scale {scale}: {quote(text)}",
        )
    return rating


def parse_first_digit(choice: ReplyChoice) -> Rating | Failure:
    """The rule of published releases (Chiang and Lee, 2023): the first digit, whatever stands
    around it.

    It reads "2.5" as 2 and "1. Coherence: 3" as 1, and knows no scale; it is there to reproduce
    figures that were made with it.
    """
    text = reply_text(choice)
    found = re.search(r"\d", text)
    return (
        Rating(float(found[0]), found.start(), found[0])
        if found
        else _no_text(choice, text) or _nothing_found(choice, text)
    )


def find_ratings(text: str, *, scale: Scale, criterion: str) -> list[Rating | Failure]:
    """All ratings of the first kind that the text holds, in the order they stand; a Failure where a
    number is not a rating by itself ("4/10" on a scale from 1 to 5, "3 or 4")."""
    plain = _mask_scale_range(_one_to_one(text), scale)

    def read(matches: Iterable[re.Match[str]]) -> list[Rating | Failure]:
        # A share of something else is prose, unless the scale is one of shares.
        return [
            _from_match(match, scale, text)
            for match in matches
            if not match["percent"] or scale.highest in _PERCENT
        ]

    for pattern in (_after_a_name(criterion), _BEGINS_LINE):
        if found := read(pattern.finditer(plain)):
            return found
    if named := _named_points(plain, scale, criterion):
        return [*named]
    pattern = _LONE if len(plain.strip()) <= _SHORT_REPLY else _ENDS_REPLY
    lone = list(pattern.finditer(plain))
    if len(lone) == 1 and not re.search(r"\d", plain[: lone[0].start()] + plain[lone[0].end() :]):
        return read(lone)
    return read(_IN_PROSE.finditer(plain))


def _part_about(text: str, criterion: str, others: Collection[str]) -> str:
    """A form's text with everything blanked out but what follows a criterion's name; every
    character keeps its place."""
    names = sorted({criterion, *others}, key=len, reverse=True)
    heading = re.compile(
        rf"\b({'|'.join(map(re.escape, names))})\b\s*+(?:\([^)\n]{{0,80}}\)\s*+)?[:=]", re.I
    )
    found = list(heading.finditer(_one_to_one(text)))
    ends = [match.start() for match in found[1:]] + [len(text)]
    kept = [
        (match.start(), end)
        for match, end in zip(found, ends, strict=True)
        if match[1].casefold() == criterion.casefold()
    ]
    shown = [" "] * len(text)
    for start, end in kept:
        shown[start:end] = text[start:end]
    return "".join(shown)


def reply_text(choice: ReplyChoice) -> str:
    """The text that positions refer to: the joined tokens where there are any; at most
    LONGEST_REPLY characters."""
    text = "".join(token.text for token in choice.tokens) if choice.tokens else choice.text
    return text[:LONGEST_REPLY]


def quote(text: str) -> str:
    """The beginning of a reply, for a message."""
    line = " ".join(text[: 10 * _QUOTED_CHARACTERS].split())
    return f"“{line[:_QUOTED_CHARACTERS]}…”" if len(line) > _QUOTED_CHARACTERS else f"“{line}”"


def _no_text(choice: ReplyChoice, text: str) -> Failure | None:
    if choice.refusal or choice.finish_reason == "content_filter":
        said = choice.refusal or text or "content filter"
        return Failure(Reason.REFUSAL, f"The model refused: {quote(said)}")
    if text.strip():
        return None
    if choice.finish_reason == "length":
        return Failure(
            Reason.CUT, "The reply was cut off before it contained any text; allow more tokens."
        )
    return Failure(Reason.EMPTY, Reason.EMPTY.explanation)


def _nothing_found(choice: ReplyChoice, text: str) -> Failure:
    if _REFUSAL.search(text):
        return Failure(Reason.REFUSAL, f"The model refused: {quote(text)}")
    if choice.finish_reason == "length":
        return Failure(Reason.CUT, f"The reply was cut off before a rating: {quote(text)}")
    return Failure(Reason.NO_RATING, f"The reply contains no rating: {quote(text)}")


def _one_to_one(text: str) -> str:
    """Full-width digits and their like as ASCII, marks of emphasis as blanks; every character keeps
    its place."""
    if text.isascii():
        return re.sub(r"[*_`#>]", " ", text)
    normal = (unicodedata.normalize("NFKC", character) for character in text)
    same_length = (new if len(new) == 1 else old for old, new in zip(text, normal, strict=True))
    return re.sub(r"[*_`#>]", " ", "".join(same_length))


def _mask_scale_range(text: str, scale: Scale) -> str:
    """Blank out the scale where the reply repeats it ("1-5", "1 to 5"), so that its ends are not
    ratings."""
    ends = rf"(?<![\d.]){short(scale.lowest)}\s*+(?:-|–|—|to)\s*+{short(scale.highest)}(?!\.?\d)"
    return re.sub(ends, lambda match: " " * len(match.group()), text)


def _after_a_name(criterion: str) -> re.Pattern[str]:
    names = rf"{_NAMES}|{re.escape(criterion)}" if criterion.strip() else _NAMES
    return re.compile(
        rf"\b(?:{names})\b\s*+(?:\([^)\n]{{0,80}}\)\s*+)?(?:[:=]|\bis\b)\s*+(?:[-•]\s++)?{_NUMBER}(?![\w])",
        re.I,
    )


def _from_match(match: re.Match[str], scale: Scale, text: str) -> Rating | Failure:
    value, other = _value(match["number"]), match["second"] or match["next"]
    if match["top"] and _value(match["top"]) != scale.highest:
        detail = f"{match.group().strip()} is not on the scale {scale}: {quote(text)}"
        return Failure(Reason.OUT_OF_SCALE, detail)
    if other and _value(other) != value:
        detail = f"The reply names two ratings ({match.group().strip()}): {quote(text)}"
        return Failure(Reason.TWO_RATINGS, detail)
    if match["percent"]:
        value *= scale.highest / 100
    return Rating(value, match.start("number"), match["number"][:_MOST_DIGITS])


def _value(digits: str) -> float:
    if len(digits) > _MOST_DIGITS:
        return math.inf
    return float(digits.replace(",", ".").replace("−", "-"))


def _named_points(text: str, scale: Scale, criterion: str) -> list[Rating]:
    """Words such as Yes and No that name points: at the start of a line, or after the criterion's
    name."""
    if not scale.words:
        return []
    words = "|".join(re.escape(label) for label in sorted(scale.words, key=len, reverse=True))
    lead = (
        rf"(?:\b(?:{_NAMES}|{re.escape(criterion)})\b\s*+[:=]\s*+|^[^\S\n]*+(?:[-•\"'][^\S\n]*+)?)"
    )
    values = {label.casefold(): point for label, point in scale.words.items()}
    return [
        Rating(values[match.group("word").casefold()], match.start("word"), match.group("word"))
        for match in re.finditer(rf"{lead}(?P<word>{words})\b", text, re.I | re.M)
    ]
