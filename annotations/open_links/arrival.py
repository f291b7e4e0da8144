"""Who follows an open link: ids sent by panels, and the cookies that identify a returning browser.
Anybody can type ids into a link, so they only decide which unfinished seat a person returns to, and
are shown to the campaign's owner."""

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256

from django.conf import settings
from django.core import signing
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.crypto import get_random_string, salted_hmac

from annotations.models import OpenLink, Participant
from evaluations.models import RequestCount
from geval.texts.spelling import storable
from geval_site.visitors import client_address, counted_address

# The database's columns for ids of panels have this length.
LONGEST_ID = 200
# A panel's study runs for some weeks; a shared computer should forget its participants.
DAYS = 30
COOKIE, SALT = "participant", "participant of an open link"
# The browser in which a participant finished.
FINISHED_COOKIE, FINISHED_SALT = "finished", "participant who finished in this browser"
# Each panel's parameters for person, study and session. The first present parameter counts.
PANELS = {
    "prolific": ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID"),
    "mturk": ("workerId", "hitId", "assignmentId"),
    "cloudresearch": ("participantId", "projectId", "assignmentId"),
    "sona": ("survey_code", "experiment_id", ""),
    "id": ("id", "study", "session"),
}
OWN_CODE = "code"
# Without characters that look alike, as people copy codes by hand.
CODE_LENGTH, CODE_CHARACTERS = 8, "abcdefghjkmnpqrstuvwxyz23456789"
HOUR = 3600


@dataclass(frozen=True)
class Arrival:
    """A person as named by a link; `source` is the panel, or says that they have a code of the
    site."""

    source: str
    external_id: str
    study: str = ""
    session: str = ""


def arrival_of(query: Mapping[str, str]) -> Arrival | None:
    """Return the person whom a link names, or None."""
    for source, (person, study, session) in PANELS.items():
        if external_id := _clean(query.get(person, "")):
            return Arrival(
                source, external_id, _clean(query.get(study, "")), _clean(query.get(session, ""))
            )
    return None


def own_code(typed: str = "") -> Arrival:
    """Return the arrival of a person without a panel's id: by the code that they type, or by a new
    one."""
    return Arrival(OWN_CODE, _clean(typed) or get_random_string(CODE_LENGTH, CODE_CHARACTERS))


def participant_of(request: HttpRequest, address: str) -> Participant | None:
    """Return the participant of this browser at a link, with the link, its campaign and project;
    None for somebody whose personal data were removed."""
    pk = _signed(request, COOKIE, SALT)
    if not pk:
        return None
    return joined().filter(pk=pk, link__address=address, external_id__isnull=False).first()


def has_finished_here(request: HttpRequest, participant: Participant) -> bool:
    return bool(_signed(request, FINISHED_COOKIE, FINISHED_SALT) == participant.pk)


def _signed(request: HttpRequest, cookie: str, salt: str) -> int | None:
    try:
        pk: int = signing.loads(request.COOKIES.get(cookie, ""), salt=salt, max_age=DAYS * 86400)
    except signing.BadSignature:
        return None
    return pk


def participant_by(link: OpenLink, arrival: Arrival) -> Participant | None:
    """Return the participant who came to a link as this person before."""
    return (
        joined().filter(link=link, source=arrival.source, external_id=arrival.external_id).first()
    )


def is_named_by(participant: Participant, arrival: Arrival) -> bool:
    return (participant.source, participant.external_id) == (arrival.source, arrival.external_id)


def is_guessing(request: HttpRequest, link: OpenLink, arrival: Arrival, *, is_known: bool) -> bool:
    """Count a request that names an unknown id, each id once an hour; whether its address has named
    too many, so that it learns of no id any more whether it is known."""
    address = counted_address(client_address(request))
    sender = _digest(f"unknown ids of {address}")
    of_id = _digest(f"unknown id {link.pk} {arrival.source} {arrival.external_id} of {address}")
    is_new = not is_known and _taken(of_id, 1) == 1
    if _taken(sender, int(is_new)) <= settings.UNKNOWN_IDS_PER_HOUR:
        return False
    if is_new:
        RequestCount.objects.filter(sender=of_id).delete()
    return True


def is_beginning_often(request: HttpRequest, link: OpenLink) -> bool:
    """Count a person without an id who agrees; whether their address has had more within an hour
    than a class: each may be screened out, and paid for that."""
    address = counted_address(client_address(request))
    most = max(settings.UNKNOWN_IDS_PER_HOUR, link.per_address)
    return _taken(_digest(f"new codes of {link.pk} {address}"), 1) > most


def origin_of(request: HttpRequest, link: OpenLink) -> str:
    """Return a digest of the request's address that says nothing outside this site and link."""
    address = counted_address(client_address(request))
    return salted_hmac("origin of a participant", f"{link.pk} {address}").hexdigest()


def _taken(sender: str, share: int) -> int:
    return RequestCount.objects.take(sender, share=share, seconds=HOUR)[0]


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def joined() -> QuerySet[Participant]:
    """Return participants with their link, its campaign and project."""
    return Participant.objects.select_related("link__campaign__project", "annotator")


def remember(response: HttpResponse, participant: Participant, path: str) -> HttpResponse:
    """Set a signed cookie for the link's own pages, so that this browser returns as the same
    person."""
    return _set_cookie(response, COOKIE, SALT, participant, path)


def remember_finished(response: HttpResponse, participant: Participant, path: str) -> HttpResponse:
    """Set a signed cookie that lets this browser see the code of a participant who is done."""
    return _set_cookie(response, FINISHED_COOKIE, FINISHED_SALT, participant, path)


def _set_cookie(
    response: HttpResponse, name: str, salt: str, participant: Participant, path: str
) -> HttpResponse:
    response.set_cookie(
        name,
        signing.dumps(participant.pk, salt=salt),
        max_age=DAYS * 86400,
        path=path,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )
    return response


def _clean(text: str) -> str:
    return storable(text).strip()[:LONGEST_ID]
