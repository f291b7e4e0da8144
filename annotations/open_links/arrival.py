"""Who follows an open link: ids as panels send them, and the cookie by which somebody stays the
same. Ids in links are what anybody can type: they say which seat somebody returns to, and are shown
to the campaign's owner; nothing else is done with them."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.conf import settings
from django.core import signing
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse

from annotations.models import OpenLink, Participant
from geval.texts.plain import storable

LONGEST_ID = 200
DAYS = 30
COOKIE, SALT = "participant", "participant of an open link"
# The parameters of each panel: the person, the study, the session. The first that is there counts.
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
    """A person as a link names them; `source` is the panel, or that they made up a code."""

    source: str
    external_id: str
    study: str = ""
    session: str = ""


def arrival_of(query: Mapping[str, str]) -> Arrival | None:
    """Who a link names, None if nobody."""
    for source, (person, study, session) in PANELS.items():
        if external_id := _clean(query.get(person, "")):
            return Arrival(
                source, external_id, _clean(query.get(study, "")), _clean(query.get(session, ""))
            )
    return None


def own_code(code: str) -> Arrival:
    """Somebody who has no id and made up a code."""
    return Arrival(OWN_CODE, _clean(code))


def participant_of(request: HttpRequest, address: str) -> Participant | None:
    """Who this browser is at a link, with the link, its campaign and project."""
    try:
        pk = signing.loads(request.COOKIES.get(COOKIE, ""), salt=SALT, max_age=DAYS * 86400)
    except signing.BadSignature:
        return None
    return joined().filter(pk=pk, link__address=address).first()


def participant_by(link: OpenLink, arrival: Arrival) -> Participant | None:
    """Who came to a link as this person before."""
    return joined().filter(link=link, external_id=arrival.external_id).first()


def joined() -> QuerySet[Participant]:
    """Participants with their link, its campaign and project."""
    return Participant.objects.select_related("link__campaign__project", "annotator")


def remember(response: HttpResponse, participant: Participant, path: str) -> HttpResponse:
    """Let this browser come back as the same person: a signed cookie for the link's own pages."""
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
