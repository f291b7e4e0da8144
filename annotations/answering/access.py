"""Who may annotate: members of the project with a seat in the campaign, and participants of an open
link who have a place."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from annotations.errors import AnnotationError
from annotations.models import Campaign, Participant, ParticipantState, Seat
from annotations.open_links.arrival import participant_of
from annotations.open_links.places import end_in_time, keep_place, seat_of
from evaluations.models import Project
from evaluations.people.languages import in_language
from geval_site.sql import JoinedQuery

View = Callable[..., HttpResponse]
_SEATS = JoinedQuery(
    {"s": Seat, "c": Campaign, "p": Project},
    """FROM annotations_seat s JOIN annotations_campaign c ON c.id = s.campaign_id
       JOIN evaluations_project p ON p.id = c.project_id JOIN annotations_annotator n
           ON n.id = s.annotator_id
       LEFT JOIN evaluations_membership m ON m.project_id = p.id AND m.user_id = n.user_id
       LEFT JOIN evaluations_personalsettings l ON l.user_id = n.user_id
       WHERE s.campaign_id = %s AND n.user_id = %s AND p.slug = %s""",
    others=("m.role", "coalesce(l.language, '')"),
)


def wants_json(request: HttpRequest) -> bool:
    """Whether the request comes from a script, which displays messages itself."""
    return request.headers.get("Accept", "") == "application/json"


def is_of_another_person(request: HttpRequest, seat: Seat | None) -> bool:
    """Whether a page that one annotator opened sends this request while another is signed in in the
    same browser. The page's script sends the annotator's id."""
    of_page = request.headers.get("X-Annotator", "")
    return bool(of_page) and seat is not None and of_page != str(seat.annotator_id)


class PartIsOverError(Exception):
    """A participant's part has ended, so there is nothing to annotate."""


def seat_view(view: View) -> View:
    """Give a view the user's seat in the campaign `pk`, or a participant's seat by the `address` of
    an open link. Refusals are a page or JSON with their reason.

    The URLs of an annotator's tasks all begin with the request's `task_base`.
    """
    of_member, of_participant = _member_view(view), _participant_view(view)

    @wraps(view)
    def guarded(request: HttpRequest, **kwargs: Any) -> HttpResponse:
        return (of_participant if "address" in kwargs else of_member)(request, **kwargs)

    return guarded


def _member_view(view: View) -> View:
    @login_required
    @wraps(view)
    def guarded(
        request: HttpRequest, slug: str, pk: int, *args: Any, **kwargs: Any
    ) -> HttpResponse:
        seat, role, language = _seat(slug, pk, request.user.pk)

        def answer() -> HttpResponse:
            try:
                _check(seat, role, request, slug)
                if is_of_another_person(request, seat):
                    return HttpResponse(status=401)
                request.role = role  # type: ignore[attr-defined]
                request.task_base = reverse("annotations:task_current", args=[slug, pk])  # type: ignore[attr-defined]
                return view(request, seat, *args, **kwargs)
            except AnnotationError as error:
                return refusal(request, error)

        of_campaign = seat.campaign.language if seat else ""
        return in_language(request, answer, own=language, campaign=of_campaign)

    return guarded


def _participant_view(view: View) -> View:
    @wraps(view)
    def guarded(request: HttpRequest, address: str, **kwargs: Any) -> HttpResponse:
        request.task_base = reverse("annotations:open_task", args=[address])  # type: ignore[attr-defined]
        request.is_open_link = True  # type: ignore[attr-defined]
        participant = participant_of(request, address)
        campaign = participant.link.campaign.language if participant else ""

        def answer() -> HttpResponse:
            return part(request, participant, address, **kwargs)

        return in_language(request, answer, campaign=campaign)

    def part(
        request: HttpRequest, participant: Participant | None, address: str, **kwargs: Any
    ) -> HttpResponse:
        if participant and participant.until and participant.until < timezone.now():
            end_in_time(participant)
        if participant is None or participant.state != ParticipantState.ACTIVE:
            return _part_is_over(request, address)
        request.participant = participant  # type: ignore[attr-defined]
        seat = seat_of(participant)
        if is_of_another_person(request, seat):
            return HttpResponse(status=401)
        # Participants know the campaign by the title of its link, and see neither systems nor other
        # people's answers, whatever members see. None of this is saved.
        seat.campaign.name = participant.link.title
        seat.campaign.show_systems = seat.campaign.show_others = False
        try:
            return view(request, seat, **kwargs)
        except PartIsOverError:
            return _part_is_over(request, address)
        except AnnotationError as error:
            return refusal(request, error)
        finally:
            keep_place(participant)

    return guarded


def _part_is_over(request: HttpRequest, address: str) -> HttpResponse:
    """Redirect a browser, or its script, to the page that says how the part ended."""
    entry = reverse("annotations:open_entry", args=[address])
    if wants_json(request):
        message = _("This was not submitted: your time is up, or your part has ended.")
        return refusal(request, AnnotationError(f"{message} {entry}", keeps_place=False))
    match = request.resolver_match
    if "fragment" in request.GET or (match and match.url_name == "open_next"):
        context = {"standing": "over", "entry": entry}
        return render(request, "annotations/task_piece.html", context)
    return redirect(entry)


def _seat(slug: str, campaign: int, user: int | None) -> tuple[Seat | None, str | None, str | None]:
    """Return the seat with its campaign and project, the user's role in the project, and their
    chosen language; None for each that does not exist."""
    row = _SEATS.first([campaign, user, slug])
    if row is None:
        return None, None, None
    seat, seat.campaign, seat.campaign.project, role, language = row
    return seat, role, language


def _check(seat: Seat | None, role: str | None, request: HttpRequest, slug: str) -> None:
    if seat is None:
        if not Project.objects.seen_by(request.user).filter(slug=slug).exists():
            raise Http404
        raise AnnotationError(
            _("You are not an annotator of this campaign; its owner can add you."),
            keeps_place=False,
        )
    if role is None:
        raise AnnotationError(
            _("You are no longer a member of %(project)s, so nothing was stored.")
            % {"project": seat.campaign.project.name},
            keeps_place=False,
        )
    if seat.campaign.project.archived_at:
        raise AnnotationError(
            _("%(project)s is archived, so nothing was stored.")
            % {"project": seat.campaign.project.name},
            keeps_place=False,
        )
    if seat.removed_at:
        raise AnnotationError(
            _("You are no longer an annotator of %(campaign)s, so nothing was stored.")
            % {"campaign": seat.campaign.name},
            keeps_place=False,
        )


def refusal(request: HttpRequest, error: AnnotationError) -> HttpResponse:
    """Return the refusal as JSON for a script, otherwise as a page that shows the user's input."""
    status = 422 if error.fields else 409 if error.keeps_place else 403
    if wants_json(request):
        content = {
            "message": error.message,
            "fields": error.fields,
            "keeps_place": error.keeps_place,
        }
        return JsonResponse(content, status=status)
    hidden = {"csrfmiddlewaretoken", "version", "seconds"}
    typed = {name: value for name, value in request.POST.items() if value and name not in hidden}
    return render(
        request,
        "annotations/refused.html",
        {"message": error.message, "typed": typed},
        status=status,
    )
