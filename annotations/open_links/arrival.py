"""Who follows an open link: ids sent by panels, and the cookie that identifies a returning browser.
Anybody can type ids into a link, so they only decide which seat a person returns to, and are shown
to the campaign's owner."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.conf import settings
from django.core import signing
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse

from annotations.models import OpenLink, Participant
from geval.texts.spelling import storable

# The database's columns for ids of panels have this length.
LONGEST_ID = 200
# A panel's study runs for some weeks; a shared computer should forget its participants.
DAYS = 30
COOKIE, SALT = "participant", "participant of an open link"
# Each panel's parameters for person, study and session. The first present parameter counts.
PANELS = {
    "prolific": ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID"),
    "mturk": ("workerId", "hitId", "assignmentId"),
    "cloudresearch": ("participantId", "projectId", "assignmentId"),
    "sona": ("survey_code", "experiment_id", ""),
    "id": ("id", "study", "session"),
}
OWN_CODE = "code"


@dataclass(frozen=True)
class Arrival:
    """A person as named by a link; `source` is the panel, or says that the person made up a
    code."""

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


def own_code(code: str) -> Arrival:
    """Return the arrival of a person without an id, who made up a code."""
    return Arrival(OWN_CODE, _clean(code))


def participant_of(request: HttpRequest, address: str) -> Participant | None:
    """Return the participant of this browser at a link, with the link, its campaign and project."""
    try:
        pk = signing.loads(request.COOKIES.get(COOKIE, ""), salt=SALT, max_age=DAYS * 86400)
    except signing.BadSignature:
        return None
    return joined().filter(pk=pk, link__address=address).first()


def participant_by(link: OpenLink, arrival: Arrival) -> Participant | None:
    """Return the participant who came to a link as this person before."""
    return joined().filter(link=link, external_id=arrival.external_id).first()


def joined() -> QuerySet[Participant]:
    """Return participants with their link, its campaign and project."""
    return Participant.objects.select_related("link__campaign__project", "annotator")


def remember(response: HttpResponse, participant: Participant, path: str) -> HttpResponse:
    """Set a signed cookie for the link's own pages, so that this browser returns as the same
    person."""
    response.set_cookie(
        COOKIE,
        signing.dumps(participant.pk, salt=SALT),
        max_age=DAYS * 86400,
        path=path,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )
    return response


def _clean(text: str) -> str:
    return storable(text).strip()[:LONGEST_ID]
