"""Pages of participants of an open link: consent, instructions, the end, leaving.

They show the link's own texts and the task, and nothing else of the project.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from annotations.answering.guidelines import guidelines_of
from annotations.forms.open_links import OwnCodeForm, ShortQuestionsForm
from annotations.models import CampaignState, ItemKind, OpenLink, Participant, ParticipantState
from annotations.open_links.arrival import (
    OWN_CODE,
    arrival_of,
    has_finished_here,
    is_beginning_often,
    is_guessing,
    is_named_by,
    origin_of,
    own_code,
    participant_by,
    participant_of,
    remember,
    remember_finished,
)
from annotations.open_links.links import ParticipantOutcome, outcome_of
from annotations.open_links.places import (
    agree,
    end,
    end_overdue,
    finish,
    is_banned,
    is_taking_people,
    items_of,
    seat_of,
    take_place,
)
from evaluations.people.languages import in_language, own_words
from geval.texts.formatting.safe_html import as_html

View = Callable[..., HttpResponse]


def _open_page(view: View) -> View:
    """Give a view the link at an address, and forbid browsers to cache its pages."""

    @never_cache
    @require_http_methods(["GET", "HEAD", "POST"])
    @wraps(view)
    def guarded(request: HttpRequest, address: str) -> HttpResponse:
        links = OpenLink.objects.select_related("campaign__project").exclude(
            campaign__state=CampaignState.DRAFT
        )
        link = get_object_or_404(links, address=address)
        request.is_open_link = True  # type: ignore[attr-defined]
        return in_language(request, lambda: view(request, link), campaign=link.campaign.language)

    return guarded


def _participant_page(view: View) -> View:
    """Give a view the participant that the browser's cookie names; others are redirected to the
    link."""

    @_open_page
    @wraps(view)
    def guarded(request: HttpRequest, link: OpenLink) -> HttpResponse:
        participant = participant_of(request, str(link.address))
        if participant is None:
            return redirect(_at(link, "open_entry"))
        if participant.state == ParticipantState.ACTIVE and end_overdue(link):
            participant.refresh_from_db(fields=["state"])
        return view(request, participant)

    return guarded


@_open_page
def open_entry(request: HttpRequest, link: OpenLink) -> HttpResponse:
    """The link itself: consent for new people, a redirect to their page for others.

    Only the browser of somebody whose part is over gets to its end: to all others unknown, banned
    and finished people look alike.
    """
    arrival = arrival_of(request.GET)
    form = OwnCodeForm(request.POST if "code" in request.POST else None)
    returns = arrival is None and form.is_valid()
    if returns:
        arrival = own_code(form.cleaned_data["code"])
    participant = participant_of(request, str(link.address))
    if participant and (arrival is None or is_named_by(participant, arrival)):
        return _entered(participant)
    is_refused = returns
    if arrival:
        participant = participant_by(link, arrival)
        if is_guessing(request, link, arrival, is_known=participant is not None):
            return _nothing_to_do(request, link)
        if participant and not participant.is_over:
            return _entered(participant)
        is_refused |= participant is not None or is_banned(link, arrival.external_id)
    end_overdue(link)
    agrees = request.method == "POST" and not form.is_bound
    if returns or (agrees and is_refused) or not is_taking_people(link):
        return _nothing_to_do(request, link)
    if agrees and arrival is None and is_beginning_often(request, link):
        return _nothing_to_do(request, link)
    if agrees:
        return _entered(agree(link, arrival or own_code()))
    return _page(
        request,
        link,
        "consent",
        form=None if arrival else form,
        arrival=arrival,
        consent=as_html(own_words(link.consent)),
    )


def _entered(participant: Participant) -> HttpResponse:
    """Redirect to the participant's current page and set the cookie, so that later addresses
    contain no ids."""
    link = participant.link
    names = {ParticipantState.CONSENTED: "open_start", ParticipantState.ACTIVE: "open_task"}
    state = ParticipantState(participant.state)
    response = redirect(_at(link, names.get(state, "open_end")))
    return remember(response, participant, _at(link, "open_entry"))


@_participant_page
def open_start(request: HttpRequest, participant: Participant) -> HttpResponse:
    """Instructions and the first questions; then a place, within the quotas."""
    link = participant.link
    if participant.state != ParticipantState.CONSENTED:
        return _entered(participant)
    form = ShortQuestionsForm(link.before, request.POST if request.method == "POST" else None)
    if form.is_valid():
        participant = take_place(participant, form.answers(), origin_of(request, link))
        if participant.state == ParticipantState.CONSENTED:
            return _nothing_to_do(request, link)
        return _entered(participant)
    campaign = link.campaign
    return _page(
        request,
        link,
        "start",
        form=form,
        code=participant.external_id if participant.source == OWN_CODE else "",
        practice=campaign.items.filter(kind=ItemKind.PRACTICE).count(),
        **guidelines_of(campaign),
    )


@_participant_page
def open_finish(request: HttpRequest, participant: Participant) -> HttpResponse:
    """The last questions, once there is nothing left to annotate."""
    link = participant.link
    if participant.state != ParticipantState.ACTIVE:
        return _entered(participant)
    queue = items_of(participant, seat_of(participant))
    if queue is None or queue:
        return redirect(_at(link, "open_end" if queue is None else "open_task"))
    form = ShortQuestionsForm(link.after, request.POST if request.method == "POST" else None)
    if form.is_valid():
        finish(participant, form.answers())
        response: HttpResponse = redirect(_at(link, "open_end"))
    else:
        response = _page(request, link, "finish", form=form)
    # Already with the form, as browsers drop the first response of a button pressed twice.
    return remember_finished(response, participant, _at(link, "open_entry"))


@_participant_page
def open_leave(request: HttpRequest, participant: Participant) -> HttpResponse:
    """Leave before the end, which releases unfinished items at once."""
    link = participant.link
    if request.method == "POST":
        end(participant, ParticipantState.RETURNED)
    if request.method == "POST" or participant.is_over:
        return redirect(_at(link, "open_end"))
    return _page(request, link, "leave")


@_participant_page
def open_end(request: HttpRequest, participant: Participant) -> HttpResponse:
    """How the part ended, with that ending's code and link back; those of people who are done only
    in the browser in which they finished, as others may know their ids."""
    if not participant.is_over:
        return _entered(participant)
    is_done = participant.state == ParticipantState.DONE
    is_elsewhere = is_done and not has_finished_here(request, participant)
    return _page(
        request,
        participant.link,
        "end",
        participant=participant,
        outcome=ParticipantOutcome() if is_elsewhere else outcome_of(participant),
        is_elsewhere=is_elsewhere,
    )


def _nothing_to_do(request: HttpRequest, link: OpenLink) -> HttpResponse:
    """Say that there is no place for this person; nothing about them is stored."""
    return _page(request, link, "no_place", status=403)


def _at(link: OpenLink, name: str) -> str:
    return reverse(f"annotations:{name}", args=[link.address])


def _page(
    request: HttpRequest, link: OpenLink, name: str, *, status: int = 200, **more: Any
) -> HttpResponse:
    return render(request, f"annotations/open/{name}.html", {"link": link, **more}, status=status)
