"""Replies in JSON under a schema of the scale: the schema, and the rating in such a reply. Pure.

The reply has a rating that is a point of the scale, or the name of a label where these have no
order, after a reason where one is requested. Nothing else is read: a reply that violates the schema
has no rating, whatever it contains.
"""

import json
import re
from collections.abc import Collection
from typing import Any, Literal

from geval.llm.parsing import Failure, Rating, Reason, no_text, parse_rating, quote, reply_text
from geval.llm.replies import ReplyChoice
from geval.statistics.scales import NO_POINT, NOT_APPLICABLE, Scale, short

# The form of the prompt, or JSON: with a rating alone, or with a reason before it.
ReplyForm = Literal["text", "rating", "reason"]
RATING, WHY = "rating", "reason"
# Within a string quotation marks are escaped, so this matches a name.
_NAME = rf'(?<!\\)"{RATING}"\s{{0,99}}:\s{{0,99}}'
_RATING = re.compile(rf'{_NAME}(?P<value>-?\d[\d.eE+-]{{0,30}}|"{NOT_APPLICABLE}")')
_LABEL = re.compile(rf'{_NAME}"(?P<value>(?:[^"\\]|\\.){{1,400}})"')


def schema_of(scale: Scale, form: ReplyForm) -> dict[str, Any] | None:
    """Return the JSON schema of a reply about a scale; None for a reply in plain text."""
    if form == "text":
        return None
    whole = all(point == int(point) for point in scale.points)
    points: list[Any] = [int(point) if whole else point for point in scale.points]
    kind: Any = "integer" if whole else "number"
    if not scale.is_ordered:
        points, kind = [*scale.labels], "string"
    if scale.allows_not_applicable:
        points, kind = [*points, NOT_APPLICABLE], [kind, "string"] if scale.is_ordered else kind
    rating = {RATING: {"type": kind, "enum": points}}
    properties = {WHY: {"type": "string"}} | rating if form == "reason" else rating
    return {
        "type": "object",
        "properties": properties,
        "required": [*properties],
        "additionalProperties": False,
    }


def read_rating(
    choice: ReplyChoice,
    *,
    scale: Scale,
    criterion: str,
    others: Collection[str] = (),
    form: ReplyForm = "text",
) -> Rating | Failure:
    """Return the rating of a reply in the requested form; positions are as in `parse_rating`."""
    if form == "text":
        rating = parse_rating(choice, scale=scale, criterion=criterion, others=others)
        if isinstance(rating, Rating) and not scale.is_ordered:
            return _named_label(rating, choice, scale)
        return rating
    text = reply_text(choice)
    return no_text(choice, text) or _structured(choice, text, scale, form)


def _named_label(rating: Rating, choice: ReplyChoice, scale: Scale) -> Rating | Failure:
    """Return the rating if it names a label; the model was told no numbers of labels."""
    if rating.value == NO_POINT or scale.point_named(rating.text) is not None:
        return rating
    names = ", ".join(scale.labels)
    text = quote(reply_text(choice))
    return Failure(Reason.NO_RATING, f"The reply names none of the labels {names}: {text}")


def _structured(choice: ReplyChoice, text: str, scale: Scale, form: ReplyForm) -> Rating | Failure:
    try:
        answer = json.loads(text)
    except (ValueError, RecursionError):
        if choice.is_cut:
            return Failure(Reason.CUT, f"The reply was cut off within its JSON: {quote(text)}")
        return _broken("it is no JSON", text)
    wanted = {RATING, WHY} if form == "reason" else {RATING}
    if not isinstance(answer, dict) or answer.keys() != wanted:
        return _broken(f"it has not {' and '.join(sorted(wanted))} alone", text)
    if not isinstance(answer.get(WHY, ""), str):
        return _broken("its reason is not a text", text)
    value = answer[RATING]
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    point = scale.point_at(value) if is_number and abs(value) < 10**9 else None
    if not scale.is_ordered:
        point = scale.labels.get(value) if isinstance(value, str) else None
    if scale.allows_not_applicable and value == NOT_APPLICABLE:
        point = NO_POINT
    if point is None:
        return _broken(f"its rating is no point of the scale {scale}", text)
    places = list((_RATING if scale.is_ordered else _LABEL).finditer(text))
    if len(places) != 1:
        return _broken("its rating stands in it more than once, or is spelled oddly", text)
    written = short(point) if scale.is_ordered and point != NO_POINT else str(value)
    return Rating(point, places[0].start("value"), written)


def _broken(why: str, text: str) -> Failure:
    return Failure(Reason.SCHEMA, f"The reply breaks its schema: {why}: {quote(text)}")
