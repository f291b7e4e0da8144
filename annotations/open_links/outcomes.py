"""What somebody gets at the end: a code, or the way back to their panel."""

from dataclasses import dataclass
from urllib.parse import quote, urlsplit

from annotations.models import Participant, ParticipantState

# What an owner may write into a link back; each is replaced by what the panel sent.
PLACEHOLDERS = ("{id}", "{study}", "{session}")
_DONE, _SCREENED, _RETURNED = "done", "screened", "returned"
_ENDS = {
    ParticipantState.DONE: _DONE,
    ParticipantState.SCREENED: _SCREENED,
    ParticipantState.RETURNED: _RETURNED,
    ParticipantState.TIMED_OUT: _RETURNED,
}


@dataclass(frozen=True)
class Outcome:
    """A completion code and an address to go on to; both may be empty."""

    code: str = ""
    url: str = ""


def outcome_of(participant: Participant) -> Outcome:
    """What the owner chose for this end; nothing for people who are banned or not at the end."""
    end = _ENDS.get(ParticipantState(participant.state))
    if end is None:
        return Outcome()
    link = participant.link
    return Outcome(getattr(link, f"{end}_code"), _filled(getattr(link, f"{end}_url"), participant))


def why_not_a_way_back(url: str) -> str:
    """Why an address is refused as a way back; empty if it is not. Only the owner's own text
    decides where a participant is sent: placeholders stand behind the `?` only."""
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
