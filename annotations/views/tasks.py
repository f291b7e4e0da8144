"""Pages for annotating: the next item, drafts, submitting, skipping, going back."""

from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.middleware.csrf import get_token
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from annotations.answering.access import PartIsOverError, refusal, seat_view, wants_json
from annotations.answering.guidelines import guidelines_of, read_guidelines, unread_change
from annotations.answering.script_words import script_words
from annotations.answering.submission import questions_of, submit
from annotations.answering.task_page import own_assignment, returned_to, task_page
from annotations.errors import AnnotationError
from annotations.models import Assignment, AssignmentState, GuidelinesVersion, Seat
from annotations.open_links.places import items_of
from annotations.planning.assignment import (
    idle_reason,
    keep_draft,
    previous_of,
    queue_of,
    skip,
    take_more,
)
from annotations.planning.waiting import most_items
from annotations.results.comparison import answer_of, answers_of_others, own_answers
from annotations.results.reviewing import ask_back
from evaluations.web.parameters import reads
from geval.texts.numbers import whole_number
from geval.texts.spelling import storable

# Room for a long comment and marked spans; drafts are saved again and again while people type.
DRAFT_LIMIT = 64 * 1024
BOOKKEEPING = ("csrfmiddlewaretoken", "version", "seconds")


@require_GET
@seat_view
def task_current(request: HttpRequest, seat: Seat) -> HttpResponse:
    """The page of the next item."""
    queue = _queue(request, seat)
    assignment = _own(seat, queue[0]) if queue else None
    return _page(request, seat, assignment)


@reads("have")
@require_GET
@seat_view
def task_next(request: HttpRequest, seat: Seat) -> HttpResponse:
    """The next item as a page fragment, for a browser that has already loaded some (`have`)."""
    have = {whole_number(word, default=0) for word in request.GET.get("have", "").split(",")}
    waiting = [pk for pk in _queue(request, seat) if pk not in have]
    return _fragment(request, seat, _own(seat, waiting[0]) if waiting else None)


@reads("fragment")
@require_GET
@seat_view
def task_detail(request: HttpRequest, seat: Seat, assignment: int) -> HttpResponse:
    """One of the annotator's own items, answered or not."""
    own_answer = _own(seat, assignment)
    return (
        _fragment(request, seat, own_answer)
        if wants_fragment(request)
        else _page(request, seat, own_answer)
    )


@reads("fragment", "before")
@require_GET
@seat_view
def task_back(request: HttpRequest, seat: Seat) -> HttpResponse:
    """The item answered or skipped before a given one."""
    previous = previous_of(seat, before=whole_number(request.GET.get("before", ""), default=0))
    if wants_fragment(request):
        return (
            _fragment(request, seat, _own(seat, previous.pk))
            if previous
            else HttpResponse(status=204)
        )
    return redirect(f"{_base(request)}{previous.pk}/" if previous else _base(request))


@require_GET
@seat_view
def task_token(request: HttpRequest, _seat: Seat) -> HttpResponse:
    """A new token for a page whose annotator signed in again."""
    return JsonResponse({"token": get_token(request)})


@require_POST
@seat_view
def task_submit(request: HttpRequest, seat: Seat, assignment: int) -> HttpResponse:
    fields = _fields(request)
    version = request.POST.get("version", "0")
    try:
        done = submit(
            seat,
            assignment,
            fields,
            user=request.user if request.user.is_authenticated else None,
            version=whole_number(version, default=0),
            seconds=_seconds(request),
            draft_number=_draft_number(request),
        )
    except AnnotationError as error:
        # Whatever the reason, keep the input as a draft if there is an assignment to store it with.
        if not _is_too_long(fields):
            keep_draft(seat, assignment, number=_draft_number(request), draft=fields, seconds=None)
        if error.fields and not wants_json(request):
            return _page(request, seat, _own(seat, assignment), fields=fields, error=error)
        return refusal(request, error)
    current = done.assignment
    if wants_json(request):
        changed = unread_change(seat) is not None
        return JsonResponse(
            {
                "version": current.version,
                "repeated": done.repeated,
                "corrected": done.corrected,
                "guidelines_changed": changed,
            }
        )
    if done.corrected:
        messages.success(request, script_words()["corrected"])
    if current.item.kind == "practice":
        return redirect(f"{_base(request)}{current.pk}/")
    return redirect(_base(request))


@require_POST
@seat_view
def task_guidelines(request: HttpRequest, seat: Seat) -> HttpResponse:
    """The annotator has read the changed guidelines, up to a version."""
    number = whole_number(request.POST.get("number", ""), default=0)
    newest = GuidelinesVersion.objects.newest_number(seat.campaign.project_id) or 0
    read_guidelines(seat, min(number, newest))
    return redirect(_base(request))


@require_POST
@seat_view
def task_draft(request: HttpRequest, seat: Seat, assignment: int) -> HttpResponse:
    fields, number = _fields(request), _draft_number(request)
    if _is_too_long(fields):
        raise AnnotationError(
            _("The draft is too long to be stored on the server; shorten the comment.")
        )
    kept = keep_draft(seat, assignment, number=number, draft=fields, seconds=_seconds(request))
    return JsonResponse({"kept": kept})


@require_POST
@seat_view
def task_skip(request: HttpRequest, seat: Seat, assignment: int) -> HttpResponse:
    skip(seat, assignment, storable(request.POST.get("reason", "")))
    if wants_json(request):
        return JsonResponse({})
    return redirect(_base(request))


@require_POST
@seat_view
def task_more(request: HttpRequest, seat: Seat) -> HttpResponse:
    """The annotator takes items beyond their share."""
    take_more(seat)
    return redirect(_base(request))


@require_POST
@seat_view
def task_ask(request: HttpRequest, seat: Seat, assignment: int) -> HttpResponse:
    """Ask the reviewer about an answer that was returned or rejected."""
    ask_back(seat, assignment, storable(request.POST.get("reason", "")))
    return redirect(f"{_base(request)}{assignment}/")


@require_GET
@seat_view
def task_list(request: HttpRequest, seat: Seat) -> HttpResponse:
    """An annotator's answered, skipped and flagged items, newest first, to open and change."""
    assignments = (
        Assignment.objects.filter(campaign=seat.campaign_id, annotator=seat.annotator_id)
        .exclude(state=AssignmentState.RESERVED)
        .select_related("item__document")
        .order_by("-submitted_at", "-pk")
    )
    context: dict[str, Any] = {
        "project": seat.campaign.project,
        "campaign": seat.campaign,
        "tab": "annotate",
        "base": _base(request),
    }
    context |= {
        "questions": questions_of(seat.campaign),
        "answers": own_answers(seat.campaign, assignments[:500]),
    }
    return render(request, "annotations/task_list.html", context)


@require_GET
@seat_view
def task_compare(request: HttpRequest, seat: Seat, assignment: int) -> HttpResponse:
    """Other people's answers to an item, after the annotator's own, if the campaign shows them."""
    own_answer = _own(seat, assignment)
    if not seat.campaign.show_others:
        raise AnnotationError(_("This campaign does not show other people’s answers."))
    if own_answer.state != AssignmentState.SUBMITTED:
        raise AnnotationError(
            _("Submit your own answer first; then you can compare it with others.")
        )
    Assignment.objects.filter(pk=own_answer.pk, saw_others_at=None).update(
        saw_others_at=timezone.now()
    )
    context: dict[str, Any] = {"tab": "annotate", "campaign": seat.campaign, "base": _base(request)}
    context |= {
        "project": seat.campaign.project,
        "page": task_page(seat, own_answer),
        "questions": questions_of(seat.campaign),
        "own": answer_of(own_answer),
        "others": answers_of_others(own_answer),
    }
    return render(request, "annotations/task_compare.html", context)


def wants_fragment(request: HttpRequest) -> bool:
    return "fragment" in request.GET


def _base(request: HttpRequest) -> str:
    """Return the beginning of the URLs of the annotator's tasks."""
    base: str = request.task_base  # type: ignore[attr-defined]
    return base


def _queue(request: HttpRequest, seat: Seat) -> list[int]:
    """Return the ids of the annotator's next assignments.

    Raises:
        PartIsOverError: the annotator is a participant below the pass mark after practice.
    """
    participant = getattr(request, "participant", None)
    if participant is None:
        return queue_of(seat)
    queue = items_of(participant, seat)
    if queue is None:
        raise PartIsOverError
    return queue


def _own(seat: Seat, pk: int) -> Assignment:
    assignment = own_assignment(seat, pk)
    if assignment is None:
        raise Http404("This item is not assigned to you.")
    return assignment


def _context(
    base: str, seat: Seat, assignment: Assignment | None, fields: dict[str, str] | None = None
) -> dict[str, Any]:
    context: dict[str, Any] = {
        "campaign": seat.campaign,
        "project": seat.campaign.project,
        "seat": seat,
        "base": base,
    }
    if assignment is None:
        return context | {"standing": idle_reason(seat), "most": most_items(seat)}
    is_shown_again = fields is not None or assignment.state == AssignmentState.SUBMITTED
    if not is_shown_again and (change := unread_change(seat)):
        return context | {"change": change} | guidelines_of(seat.campaign)
    return context | {"page": task_page(seat, assignment, fields=fields)}


def _fragment(request: HttpRequest, seat: Seat, assignment: Assignment | None) -> HttpResponse:
    context = _context(_base(request), seat, assignment)
    return render(request, "annotations/task_piece.html", context)


def _page(
    request: HttpRequest,
    seat: Seat,
    assignment: Assignment | None,
    *,
    fields: dict[str, str] | None = None,
    error: AnnotationError | None = None,
) -> HttpResponse:
    GuidelinesVersion.objects.current(seat.campaign.project)
    context = _context(_base(request), seat, assignment, fields)
    context |= guidelines_of(seat.campaign) | {
        "tab": "annotate",
        "error": error,
        "returned": returned_to(seat),
        "words": script_words(),
    }
    return render(request, "annotations/task_page.html", context, status=422 if error else 200)


def _fields(request: HttpRequest) -> dict[str, str]:
    """Return the form's input in the format of a draft."""
    given = request.POST.items()
    return {
        storable(name): storable(str(value))
        for name, value in given
        if name not in (*BOOKKEEPING, "number")
    }


def _is_too_long(draft: dict[str, str]) -> bool:
    return len(urlencode(draft)) > DRAFT_LIMIT


def _seconds(request: HttpRequest) -> float | None:
    """Return the active time as measured by the page; None if it is missing or invalid."""
    try:
        value = float(request.POST.get("seconds", ""))
    except ValueError:
        return None
    return value if 0 <= value < 10**6 else None


def _draft_number(request: HttpRequest) -> int:
    """Return the draft's number. Browsers number drafts by their clock; an older draft never
    replaces a newer one."""
    written = request.POST.get("number", "")
    return whole_number(written, default=int(timezone.now().timestamp() * 1000))
