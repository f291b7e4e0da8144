"""Read evaluation steps from a model's reply. Pure."""

import re
from collections import Counter

from geval.llm.parsing import Rating, Reason, is_refusal, parse_rating
from geval.llm.replies import ReplyChoice
from geval.llm.reply_words import REQUESTS
from geval.statistics.scales import Scale

# As long as a part of a wording may be (`evaluators/wording.py`).
LONGEST_STEPS = 20_000
# A shorter reply that is not a list is taken for a refusal or a question.
SHORTEST_WITHOUT_A_LIST = 120
# A broken model repeats itself; a step may come twice.
_MOST_REPEATED = 2
_NAME = r"(?:#{1,6}[^\S\n])?[*_]{0,3}(?:step|schritt|étape|paso|passo|шаг|步骤|步驟|ステップ|단계)"
_ITEM = re.compile(
    rf"^[^\S\n]{{0,9}}(?:{_NAME}[^\S\n]?\d{{1,3}}|\d{{1,3}}[.):]|[-*•])", re.M | re.I
)
# An item that has a number, or some words: steps go on after "- 5" or "Max: 5".
_STEP = re.compile(
    rf"^[^\S\n]{{0,9}}(?:(?:{_NAME}[^\S\n]?|[*_]{{0,3}})(?P<number>\d{{1,3}})[.):]"
    r"|[-*•][^\S\n]{1,9}(?:[^\W\d][\w'’-]{0,30}[^\S\n]{1,9}){2})",
    re.M | re.I,
)
_HEADING = re.compile(r"\A#{0,6}\s{0,9}\*{0,3}Evaluation Steps\*{0,3}:?\*{0,3}\s{0,99}", re.I)
_FORM = re.compile(r"^[^\S\n]{0,9}#{0,6}[^\S\n]{0,9}\*{0,3}Evaluation Form", re.M)
# "**Rating:** 4": the model rates instead of writing steps, or after them.
_RATED = re.compile(
    r"^[^\S\n]{0,9}(?:\d{1,3}[.)]|[-*•])?[^\S\n]{0,9}(?:[*_]{0,3}[^\W\d][\w -]{0,40}[*_]{0,3}"
    r"(?:\([^)\n]{0,40}\))?[*_]{0,3}[:=][*_]{0,3}[^\S\n]{0,9})?[*_]{0,3}\d{1,3}(?:[.,]\d)?"
    r"(?:\s?/\s?\d{1,3})?[*_]{0,3}\.?[^\S\n]{0,9}$",
    re.M,
)
# How a text begins that is an error, or an evaluation.
_OTHER_KIND = re.compile(
    r"(?:```\w*\s*)?(?:<(?:!doctype|html|head|\?xml|error)|\{(?!\s*\"[^\"]*step))"
    r"|(?:error|exception|traceback|http)\b\s?(?:[45]\d\d\b|:)|[45]\d\d [A-Z]"
    r"|[^.?\n]{0,60}\b(?:(?:should|shall|may|can|must) I|(?:do|did|could|would|can) you "
    r"(?:mean|want|like me|prefer|provide|share|clarify|send|please))\b[^?\n]{0,80}\?",
    re.I,
)
_EVALUATES = re.compile(
    r"\b(?:I['’]d|I would|I) (?:rate|give|score) (?:this|the|it)\b|\bmy (?:rating|score) is\b", re.I
)
# Of a rubric: a line with a weight, also in a list or a table.
_RUBRIC_ITEM = re.compile(
    r"\s*(?:[-*•]\s+|\d{1,2}[.)]\s+|\|\s*)?"
    r"(\d{1,3}(?:\.\d{1,3})?)\s*\|\s*([^\s|][^|]*?)\s*(?:\|([^|]*))?\|?\s*"
)
# All of an item.
_PLACEHOLDER = re.compile(
    r"[*_\s:.)]{0,9}(?:[\[<(][^\])>\n]{0,80}[\])>]|step \d+|…)?[*_\s:.]*", re.I
)
_REQUEST = re.compile("|".join(REQUESTS), re.I)


class StepsError(ValueError):
    """The LLM's reply contains no evaluation steps."""


def read_steps(choice: ReplyChoice) -> str:
    """Return the steps in a reply, without the heading, the form and the ratings that some models
    add.

    Raises:
        StepsError: nothing is left, or the reply is a refusal, a question or a repetition.
    """
    if choice.is_cut:
        raise StepsError(
            "The model's evaluation steps were cut off before their end. Write steps by hand, do "
            "without them, or use a model that needs fewer tokens."
        )
    text = _HEADING.sub("", choice.text[:LONGEST_STEPS].strip())
    text = _without_rating(_FORM.split(text, maxsplit=1)[0]).strip()
    is_list = bool(_ITEM.search(text))
    if (
        choice.refusal
        or len(text) < (20 if is_list else SHORTEST_WITHOUT_A_LIST)
        or _is_answer_of_another_kind(text)
    ):
        reply = choice.refusal or choice.text
        raise StepsError(
            f"The model wrote no evaluation steps, but: “{reply[:200]}”. Write steps by hand, or "
            "do without them."
        )
    return text


def read_items(choice: ReplyChoice) -> str:
    """Return the lines of a reply that are items of a rubric, `weight | name | question`; the first
    of a name.

    Raises:
        StepsError: there is none, or the reply was cut off.
    """
    lines: dict[str, str] = {}
    for written in () if choice.is_cut else choice.text.splitlines():
        if match := _RUBRIC_ITEM.fullmatch(written):
            weight, name, question = (part or "" for part in match.groups())
            line = " | ".join(filter(None, (weight, name, question.strip())))
            lines.setdefault(name.casefold(), line)
    if not lines:
        reason = "it was cut off" if choice.is_cut else f"“{choice.text[:200]}”"
        raise StepsError(f"The model's reply has no items: {reason}. Write them by hand.")
    return "\n".join(lines.values())


def _without_rating(text: str) -> str:
    """Cut a text at its first rating after which the steps do not go on."""
    begins, last = 0, -1
    while rated := _RATED.search(text, begins):
        before = (int(number or 0) for number in _STEP.findall(text, begins, rated.start()))
        last = max([last, *before])
        after = _STEP.search(text, rated.end())
        if last < 0 or not after or int(after["number"] or 0) != last + bool(last):
            return text[: rated.start()]
        begins = after.start()
    return text


def _is_answer_of_another_kind(text: str) -> bool:
    """Return whether a text refuses, asks, rates or reports an error until its first item, repeats
    a line, or has an item without words."""
    introduction, *items = _ITEM.split(text)
    lines = Counter(_ITEM.sub("", line).strip().casefold() for line in text.split("\n"))
    del lines[""]
    begins = [part.lstrip(" *_:.)") for part in (introduction, *items[:1])]
    is_other = any(_OTHER_KIND.match(begin) or is_refusal(begin[:24]) for begin in begins)
    if is_other or _EVALUATES.search(text) or any(_PLACEHOLDER.fullmatch(item) for item in items):
        return True
    repeats = any(count > _MOST_REPEATED for count in lines.values())
    asks = bool(_REQUEST.search(introduction))
    return is_refusal(introduction) or asks or repeats or (introduction == text and _rates(text))


def _rates(text: str) -> bool:
    rating = parse_rating(ReplyChoice(text), scale=Scale(0, 100), criterion="")
    return isinstance(rating, Rating) or rating.reason in (Reason.TWO_RATINGS, Reason.OUT_OF_SCALE)
