"""Convert a submitted form to an answer. Pure.

Field names: `score-C`, or `na-C` beside a typed number for "n/a", which is stored as null;
`choice-C` (2 to -2, above 0 for the left one); `best-C` and `worst-C` (an
output's id); `rank-C-O` (1 is best); `comment`, `flagged`, `spans` (a JSON list). C is a
criterion's id, 0 for "overall"; O an output's id.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from annotations.errors import AnnotationError
from geval.files.fields import COMMENT_LIMIT
from geval.statistics.scales import NOT_APPLICABLE, Scale

# Every page with the text draws all of its spans into it.
MOST_SPANS = 200
# The letters of outputs shown together; a group has at most nine.
LETTERS = "ABCDEFGHI"
Answer = dict[str, Any]


@dataclass(frozen=True)
class Question:
    """A question: `key` is the criterion's id, or 0 for overall."""

    key: int
    name: str
    scale: Scale | None = None


@dataclass(frozen=True)
class Shape:
    """What an answer must contain. `shown` are the ids of the outputs in display order, `text` the
    text that spans refer to."""

    kind: str
    questions: tuple[Question, ...]
    shown: tuple[int, ...]
    strength: bool = False
    categories: tuple[str, ...] = ()
    severities: tuple[str, ...] = ()
    text: str = ""


def read_answer(shape: Shape, fields: Mapping[str, str]) -> Answer:
    """Read an answer from a form's fields.

    Raises:
        AnnotationError: something is missing or outside the scale; its `fields` say what and where.
    """
    errors: dict[str, str] = {}
    answer = _READERS[shape.kind](shape, fields, errors)
    answer["comment"] = fields.get("comment", "").replace("\0", "").strip()[:COMMENT_LIMIT]
    answer["flagged"] = fields.get("flagged", "") not in ("", "0", "false")
    spans = _spans(shape, fields.get("spans", ""), errors)
    if spans:
        answer["spans"] = spans
    if errors:
        raise AnnotationError(" ".join(dict.fromkeys(errors.values())), fields=errors)
    return answer


def _scores(shape: Shape, fields: Mapping[str, str], errors: dict[str, str]) -> Answer:
    scores: dict[str, float | None] = {}
    for question in shape.questions:
        name, written = f"score-{question.key}", fields.get(f"score-{question.key}", "").strip()
        assert question.scale is not None
        if fields.get(f"na-{question.key}"):
            written = written or NOT_APPLICABLE
            if written != NOT_APPLICABLE:
                errors[name] = _("%(question)s: rate it, or choose “not applicable”, not both.") % {
                    "question": question.name
                }
                continue
        if written == NOT_APPLICABLE and question.scale.allows_not_applicable:
            scores[str(question.key)] = None
            continue
        if not written:
            errors[name] = _("Rate %(question)s.") % {"question": question.name}
            continue
        try:
            value = float(written)
        except ValueError:
            value = math.nan
        point = question.scale.point_at(value)
        if point is None:
            errors[name] = _("%(question)s: %(answer)s is not a point of its scale %(scale)s.") % {
                "question": question.name,
                "answer": written[:40],
                "scale": question.scale,
            }
        else:
            scores[str(question.key)] = point
    return {"scores": scores}


def _choices(shape: Shape, fields: Mapping[str, str], errors: dict[str, str]) -> Answer:
    allowed = ("2", "1", "0", "-1", "-2") if shape.strength else ("1", "0", "-1")
    choices: dict[str, int] = {}
    for question in shape.questions:
        name, written = f"choice-{question.key}", fields.get(f"choice-{question.key}", "").strip()
        if not written:
            errors[name] = _("Choose for %(question)s.") % {"question": question.name}
        elif written not in allowed:
            errors[name] = _("%(question)s: %(answer)s is not one of the choices.") % {
                "question": question.name,
                "answer": written[:40],
            }
        else:
            choices[str(question.key)] = int(written)
    return {"choices": choices}


def _best_worst(shape: Shape, fields: Mapping[str, str], errors: dict[str, str]) -> Answer:
    answer: Answer = {"best": {}, "worst": {}}
    for question in shape.questions:
        for end in ("best", "worst"):
            name, written = f"{end}-{question.key}", fields.get(f"{end}-{question.key}", "").strip()
            if written not in map(str, shape.shown):
                message = (
                    _("Choose the best for %(question)s.")
                    if end == "best"
                    else _("Choose the worst for %(question)s.")
                )
                errors[name] = message % {"question": question.name}
            else:
                answer[end][str(question.key)] = int(written)
        key = str(question.key)
        if key in answer["best"] and answer["best"][key] == answer["worst"].get(key):
            errors[f"worst-{key}"] = _(
                "%(question)s: the best and the worst cannot be the same."
            ) % {"question": question.name}
    return answer


def _ranks(shape: Shape, fields: Mapping[str, str], errors: dict[str, str]) -> Answer:
    allowed = {str(rank) for rank in range(1, len(shape.shown) + 1)}
    ranks: dict[str, dict[str, int]] = {}
    for question in shape.questions:
        entered = {pk: fields.get(f"rank-{question.key}-{pk}", "").strip() for pk in shape.shown}
        for pk, written in entered.items():
            if written not in allowed:
                errors[f"rank-{question.key}-{pk}"] = _(
                    "Give every text a rank for %(question)s, 1 for the best."
                ) % {"question": question.name}
        if all(written in allowed for written in entered.values()):
            ranks[str(question.key)] = {str(pk): int(written) for pk, written in entered.items()}
    return {"ranks": ranks}


_READERS = {"rating": _scores, "pairwise": _choices, "best_worst": _best_worst, "ranking": _ranks}


def _spans(shape: Shape, written: str, errors: dict[str, str]) -> list[dict[str, Any]]:
    if not written.strip() or not shape.categories:
        return []
    try:
        spans = json.loads(written)
        read = [_span(shape, span) for span in spans]
    except (
        AttributeError,
        KeyError,
        OverflowError,
        RecursionError,
        TypeError,
        ValueError,
    ) as error:
        errors["spans"] = _("A marked span cannot be read; mark it again.") + f" ({error})"
        return []
    if len(read) > MOST_SPANS:
        errors["spans"] = _("At most %(most)s marked spans can be stored.") % {"most": MOST_SPANS}
    return sorted(read, key=lambda span: (span["start"], span["end"], span["category"]))


def _span(shape: Shape, span: Mapping[str, Any]) -> dict[str, Any]:
    start, end = int(span["start"]), int(span["end"])
    category, severity = str(span["category"]), str(span.get("severity", ""))
    if not 0 <= start < end <= len(shape.text):
        raise ValueError(f"{start} to {end} is not within the text")
    if category not in shape.categories:
        raise ValueError(f"there is no error type {category[:40]!r}")
    if severity not in shape.severities and (severity or shape.severities):
        raise ValueError(f"there is no severity {severity[:40]!r}")
    quote = shape.text[start:end]
    if str(span.get("quote", quote)) != quote:
        raise ValueError("the text differs from what was marked")
    return {"start": start, "end": end, "quote": quote, "category": category, "severity": severity}


def fields_of(answer: Answer) -> dict[str, str]:
    """Return the form fields that give this answer."""
    fields = {
        f"score-{key}": NOT_APPLICABLE if value is None else f"{value:g}"
        for key, value in answer.get("scores", {}).items()
    }
    fields |= {f"choice-{key}": str(value) for key, value in answer.get("choices", {}).items()}
    for end in ("best", "worst"):
        fields |= {f"{end}-{key}": str(pk) for key, pk in answer.get(end, {}).items()}
    for key, ranks in answer.get("ranks", {}).items():
        fields |= {f"rank-{key}-{pk}": str(rank) for pk, rank in ranks.items()}
    fields["comment"] = answer.get("comment", "")
    fields["flagged"] = "1" if answer.get("flagged") else ""
    if answer.get("spans"):
        fields["spans"] = json.dumps(answer["spans"])
    return fields
