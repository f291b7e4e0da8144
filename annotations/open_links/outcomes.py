"""What a participant gets at the end: a code, or a link back to their panel."""

from dataclasses import dataclass
from urllib.parse import quote, urlsplit

from annotations.models import Participant, ParticipantState

# Placeholders that an owner may write into the link back, replaced by what the panel sent.
PLACEHOLDERS = ("{id}", "{study}", "{session}")
_DONE, _SCREENED, _RETURNED = "done", "screened", "returned"
_ENDS = {
    ParticipantState.DONE: _DONE,
    ParticipantState.SCREENED: _SCREENED,
    ParticipantState.RETURNED: _RETURNED,
    ParticipantState.TIMED_OUT: _RETURNED,
}


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
        getattr(link, f"{end}_code"), _filled(getattr(link, f"{end}_url"), participant)
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


def _filled(url: str, participant: Participant) -> str:
    values = (participant.external_id or "", participant.study, participant.session)
    for placeholder, value in zip(PLACEHOLDERS, values, strict=True):
        url = url.replace(placeholder, quote(value, safe=""))
    return url
