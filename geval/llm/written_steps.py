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
_ITEM = re.compile(r"^[^\S\n]{0,9}(?:\d{1,3}[.):]|[-*•])", re.M)
_HEADING = re.compile(r"\A#{0,6}\s{0,9}\*{0,3}Evaluation Steps\*{0,3}:?\*{0,3}\s{0,99}", re.I)
_FORM = re.compile(r"^[^\S\n]{0,9}#{0,6}[^\S\n]{0,9}\*{0,3}Evaluation Form", re.M)
# "**Rating:** 4": the model rates instead of writing steps, or after them.
_RATED = re.compile(
    r"^[^\S\n]{0,9}(?:\d{1,3}[.)]|[-*•])?[^\S\n]{0,9}(?:[*_]{0,3}[^\W\d][\w -]{0,40}[*_]{0,3}"
    r"(?:\([^)\n]{0,40}\))?[*_]{0,3}[:=][*_]{0,3}[^\S\n]{0,9})?[*_]{0,3}\d{1,3}(?:[.,]\d)?"
    r"(?:\s?/\s?\d{1,3})?[*_]{0,3}\.?[^\S\n]{0,9}$",
    re.M,
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
    text = _RATED.split(_FORM.split(text, maxsplit=1)[0], maxsplit=1)[0].strip()
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


def _is_answer_of_another_kind(text: str) -> bool:
    """Return whether a text refuses or asks before its first item, or repeats a line."""
    introduction = _ITEM.split(text, maxsplit=1)[0]
    lines = Counter(_ITEM.sub("", line).strip().casefold() for line in text.split("\n"))
    del lines[""]
    repeats = any(count > _MOST_REPEATED for count in lines.values())
    asks = bool(_REQUEST.search(introduction))
    return is_refusal(introduction) or asks or repeats or (introduction == text and _rates(text))


def _rates(text: str) -> bool:
    rating = parse_rating(ReplyChoice(text), scale=Scale(0, 100), criterion="")
    return isinstance(rating, Rating) or rating.reason in (Reason.TWO_RATINGS, Reason.OUT_OF_SCALE)
