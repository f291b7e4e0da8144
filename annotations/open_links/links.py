"""An open link: which values its settings may have, on its page and in the API, and what a
participant gets at the end, a code or a link back to their panel.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import quote, urlsplit

from django import forms
from django.core.exceptions import ValidationError

from annotations.models import OpenLink, Participant, ParticipantState
from annotations.open_links.arrival import LONGEST_ID
from annotations.planning.values import Errors, checked
from geval.texts.short_questions import ShortQuestionError, question_of, read_questions

# Placeholders that an owner may write into the link back, replaced by what the panel sent.
PLACEHOLDERS = ("{id}", "{study}", "{session}")
_DONE, _INCOMPLETE, _SCREENED, _RETURNED = "done", "incomplete", "screened", "returned"
_ENDS = {
    ParticipantState.DONE: _DONE,
    ParticipantState.INCOMPLETE: _INCOMPLETE,
    ParticipantState.SCREENED: _SCREENED,
    ParticipantState.RETURNED: _RETURNED,
    ParticipantState.TIMED_OUT: _RETURNED,
}
COLUMNS = (
    "address", "title", "consent", "is_open", "people", "items_each", "minutes", "skip_percent",
    "per_address", "amount", "pays_by_item", "amount_screened", "bonus", "bonus_percent",
    "done_code", "incomplete_code", "screened_code", "returned_code",
    "done_url", "incomplete_url", "screened_url", "returned_url",
)  # fmt: skip
WAYS_BACK = ("done_url", "incomplete_url", "screened_url", "returned_url")
FIELD_CLASSES: dict[str, Any] = dict.fromkeys(
    WAYS_BACK, partial(forms.URLField, assume_scheme="https")
)
# The ids are in the link's row, and read whenever somebody arrives.
MOST_BANNED = 10_000


def _questions(lines: str, *, with_quotas: bool) -> list[dict[str, Any]]:
    try:
        questions = [question.as_json() for question in read_questions(lines)]
    except ShortQuestionError as error:
        raise ValidationError(str(error)) from None
    if not with_quotas and any(question["quotas"] for question in questions):
        raise ValidationError("Only questions before can say how many people are wanted.")
    return questions


def _ids(lines: str) -> list[str]:
    ids = [line.strip()[:LONGEST_ID] for line in lines.splitlines()]
    banned = list(dict.fromkeys(filter(None, ids)))
    if len(banned) > MOST_BANNED:
        raise ValidationError(f"Ban at most {MOST_BANNED:,} ids.")
    return banned


class LinesField(forms.CharField):
    """A text with a line for each question or id, read into what is stored."""

    def __init__(self, read: Callable[[str], list[Any]], most: int, **shown: Any) -> None:
        super().__init__(required=False, max_length=most, **shown)
        self.read = read

    def clean(self, value: Any) -> list[Any]:
        return self.read(super().clean(value))


LINES = {
    "before": partial(LinesField, partial(_questions, with_quotas=True), 20_000),
    "after": partial(LinesField, partial(_questions, with_quotas=False), 20_000),
    "banned": partial(LinesField, _ids, 500_000),
}


def change_settings(link: OpenLink, values: Mapping[str, Any]) -> None:
    """Set the settings of a link, unsaved.

    Args:
        values: by the names of `COLUMNS` and `LINES`; settings without a value stay.

    Raises:
        ValidationError: by field.
    """
    errors: Errors = {}
    fields = forms.fields_for_model(OpenLink, COLUMNS, field_classes=FIELD_CLASSES)
    for name, field in (fields | {name: lines() for name, lines in LINES.items()}).items():
        value = checked(errors, name, values[name], field.clean) if name in values else None
        if name in values and name not in errors:
            setattr(link, name, value)
    for name in WAYS_BACK:
        url = "" if name in errors else getattr(link, name)
        if reason := url and why_not_a_way_back(url):
            errors[name] = [reason]
    try:
        link.full_clean(exclude={"campaign", *errors})
    except ValidationError as error:
        errors |= error.message_dict
    if errors:
        raise ValidationError(errors)


def lines_of(stored: list[dict[str, Any]]) -> str:
    """Return questions as lines, as their owner wrote them."""
    return "\n".join(question_of(question).line for question in stored)


@dataclass(frozen=True)
class ParticipantOutcome:
    """A completion code and an address to go on to; both may be empty."""

    code: str = ""
    url: str = ""


def outcome_of(participant: Participant) -> ParticipantOutcome:
    """Return the code and address that the owner chose for this ending; empty for people who are
    banned or still active."""
    end = _ENDS.get(ParticipantState(participant.state))
    if end is None:
        return ParticipantOutcome()
    link = participant.link
    return ParticipantOutcome(
        getattr(link, f"{end}_code"), _fill_placeholders(getattr(link, f"{end}_url"), participant)
    )


def why_not_a_way_back(url: str) -> str:
    """Return why an address is refused as the link back, or an empty text. Placeholders are allowed
    only after the `?`, so that the owner's own text alone decides where a participant is sent."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "This is not an address."
    if parts.scheme != "https" or not parts.hostname or parts.username or parts.password:
        return "Write an address that begins with https:// and has no password."
    head = url.partition("?")[0].partition("#")[0]
    if any(placeholder in head for placeholder in PLACEHOLDERS):
        return "Write {id}, {study} and {session} behind the ? only."
    return ""


def _fill_placeholders(url: str, participant: Participant) -> str:
    values = (participant.external_id or "", participant.study, participant.session)
    for placeholder, value in zip(PLACEHOLDERS, values, strict=True):
        url = url.replace(placeholder, quote(value, safe=""))
    return url
