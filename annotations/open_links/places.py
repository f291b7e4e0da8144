"""Places of an open link: taken within its quotas, and released.

Quotas count rows of participants, which no database constraint can limit. Taking a place therefore
locks the link's row while counting and recording it: people who arrive at the same link are counted
one at a time, and those of other links never wait.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from annotations.errors import AnnotationError
from annotations.models import (
    Annotator,
    Assignment,
    CampaignState,
    OpenLink,
    Participant,
    ParticipantState,
    ScreenedFor,
    Seat,
)
from annotations.open_links.arrival import OWN_CODE, Arrival, joined, participant_by
from annotations.open_links.work import Work, skips_too_much, why_not_done, work_of
from annotations.planning.assignment import end_leases, practice_outcome, queue_of
from annotations.planning.free_texts import empty_free_texts
from annotations.planning.places import count_places
from evaluations.models.row_by_row import for_each
from geval.texts.short_questions import question_of

# Longer than a first text takes to read, and short for others who wait for the place.
IDLE = timedelta(minutes=5)
AGREED_KEPT = timedelta(days=1)


def is_taking_people(link: OpenLink) -> bool:
    """Whether new people may begin. Their place is certain only once they have taken it
    (`take_place`)."""
    campaign = link.campaign
    return (
        link.is_open
        and campaign.state == CampaignState.OPEN
        and campaign.project.archived_at is None
        and (campaign.deadline is None or campaign.deadline > timezone.now())
        and link.participants.in_places().count() < link.people
    )


def is_banned(link: OpenLink, external_id: str | None) -> bool:
    return external_id in link.banned


def agree(link: OpenLink, arrival: Arrival) -> Participant:
    """Return this person's participant, creating it unless they agreed before."""
    try:
        with transaction.atomic():
            Participant.objects.create(
                link=link,
                source=arrival.source,
                external_id=arrival.external_id,
                study=arrival.study,
                session=arrival.session,
            )
    except IntegrityError:
        pass  # they agreed before, perhaps in another window a moment ago
    participant = participant_by(link, arrival)
    assert participant
    return participant


def take_place(participant: Participant, before: dict[str, Any], origin: str = "") -> Participant:
    """Give a person who agreed a place, or screen them out; return the updated participant, who has
    still only agreed if people without a panel's id hold all the places of their address.

    Args:
        before: their answers to the link's first questions.
        origin: a digest of their address.
    """
    end_overdue(participant.link)
    with transaction.atomic():
        # NO KEY UPDATE, so that new participants, whose rows reference the link, need not wait.
        link = OpenLink.objects.select_for_update(no_key=True).get(pk=participant.link_id)
        held = Participant.objects.select_for_update().get(pk=participant.pk)
        if held.state == ParticipantState.CONSENTED and not _is_address_full(link, held, origin):
            now = timezone.now()
            held.before = before
            held.screened_for = _why_not(link, before)
            if held.screened_for:
                held.state, held.ended_at = ParticipantState.SCREENED, now
            else:
                held.state, held.started_at = ParticipantState.ACTIVE, now
                held.until = min(now + IDLE, _time_limit(link, held))
                held.origin = origin if held.source == OWN_CODE else ""
            held.save()
    return joined().get(pk=participant.pk)


def _is_address_full(link: OpenLink, participant: Participant, origin: str) -> bool:
    """Whether people without a panel's id hold as many places as one address may. The link's row
    must be locked."""
    if participant.source != OWN_CODE:
        return False
    same = link.participants.filter(state=ParticipantState.ACTIVE, source=OWN_CODE, origin=origin)
    return same.count() >= link.per_address


def _time_limit(link: OpenLink, participant: Participant) -> datetime:
    assert participant.started_at
    return participant.started_at + timedelta(minutes=link.minutes)


def keep_place(participant: Participant) -> None:
    """Move the end of a place after a request: to the time limit once there is an answer, until
    then by as long as somebody may be idle."""
    now, limit = timezone.now(), _time_limit(participant.link, participant)
    if participant.until is None or participant.until >= min(now + IDLE, limit):
        return
    until = limit if _has_answered(participant) else min(now + IDLE, limit)
    Participant.objects.filter(pk=participant.pk, state=ParticipantState.ACTIVE).update(until=until)


def _has_answered(participant: Participant) -> bool:
    """Whether they have ever submitted an answer, practice included."""
    return Assignment.objects.filter(
        campaign=participant.link.campaign_id, annotator=participant.annotator_id, version__gt=0
    ).exists()


def _why_not(link: OpenLink, before: dict[str, Any]) -> str:
    """Return why there is no place, or an empty text. The link's row must be locked."""
    placed = link.participants.in_places()
    if placed.count() >= link.people:
        return ScreenedFor.FULL
    for question in map(question_of, link.before):
        option = before.get(question.name)
        wanted = question.quotas.get(str(option))
        if wanted is not None and (
            not wanted or placed.filter(before__contains={question.name: option}).count() >= wanted
        ):
            return ScreenedFor.GROUP
    return ""


def seat_of(participant: Participant) -> Seat:
    """Return the seat of a participant with a place, creating it if needed, with its campaign and
    project."""
    link = participant.link
    campaign = link.campaign
    if participant.annotator_id is None:
        with transaction.atomic():
            # Two requests of a browser would each create an annotator.
            held = Participant.objects.select_for_update().get(pk=participant.pk)
            if held.annotator_id is None:
                held.annotator = Annotator.objects.create(
                    project=campaign.project, name=_free_name(participant)
                )
                held.save(update_fields=["annotator"])
                Seat.objects.create(
                    campaign=campaign, annotator=held.annotator, most_items=link.items_each
                )
            participant.annotator = held.annotator
    seat = Seat.objects.get(campaign=campaign, annotator=participant.annotator)
    seat.campaign = campaign
    return seat


def _free_name(participant: Participant) -> str:
    """Return an unused annotator name, since a file may have given a rater the same name."""
    name = participant.name
    while Annotator.objects.filter(project=participant.link.campaign.project, name=name).exists():
        name += "*"
    return name


def finish(participant: Participant, after: dict[str, Any]) -> bool:
    """End the part of a participant with nothing left to do: as done, as incomplete, or as screened
    out if they answered no item. Return whether it had not ended before.

    Args:
        after: their answers to the link's last questions.
    """
    link, annotator = participant.link, participant.annotator_id
    work = work_of(link.campaign_id, annotator).get(annotator or 0, Work())
    reason = why_not_done(work, link)
    if reason is None:
        return end(participant, ParticipantState.DONE, after=after)
    if reason == ScreenedFor.ITEMS:
        return end(participant, ParticipantState.SCREENED, reason)
    return end(participant, ParticipantState.INCOMPLETE, reason, after=after)


def end(
    participant: Participant,
    state: ParticipantState,
    screened_for: str = "",
    *,
    after: dict[str, Any] | None = None,
) -> bool:
    """End a participant's part, once: release their unfinished items and keep their answers.

    Returns:
        Whether it had not ended before.
    """
    with transaction.atomic():
        # Seat first, like every action of annotators: a concurrent answer is either stored before
        # or finds the seat released.
        seats = Seat.objects.filter(
            campaign=participant.link.campaign_id, annotator=participant.annotator_id
        ).lock()
        ended = Participant.objects.filter(
            pk=participant.pk, state__in=[ParticipantState.CONSENTED, ParticipantState.ACTIVE]
        ).update(
            state=state,
            screened_for=screened_for,
            ended_at=timezone.now(),
            origin="",
            **({} if after is None else {"after": after}),
        )
        if ended:
            count_places(end_leases(seats))
            if state != ParticipantState.DONE:
                Seat.objects.filter(pk__in=[seat.pk for seat in seats]).update(
                    removed_at=timezone.now()
                )
    if ended:
        participant.state, participant.screened_for = state, screened_for
    return bool(ended)


def end_in_time(participant: Participant) -> bool:
    """End a place whose time is over; return whether it had not ended before. Whoever was idle and
    has no answer has only agreed again, and may begin anew."""
    if _time_limit(participant.link, participant) <= timezone.now():
        return end(participant, ParticipantState.TIMED_OUT)
    with transaction.atomic():
        seats = Seat.objects.filter(
            campaign=participant.link.campaign_id, annotator=participant.annotator_id
        ).lock()
        if _has_answered(participant):
            keep_place(participant)
            return False
        ended = (
            Participant.objects.filter(pk=participant.pk)
            .overdue()
            .update(state=ParticipantState.CONSENTED, started_at=None, until=None, origin="")
        )
        if ended:
            participant.state = ParticipantState.CONSENTED
            count_places(end_leases(seats))
    return bool(ended)


def end_overdue(link: OpenLink) -> int:
    """End the places of everybody whose time is over; return how many."""
    overdue = joined().filter(link=link).overdue()  # type: ignore[attr-defined]
    return sum(map(end_in_time, overdue))


def end_all_overdue() -> None:
    """End overdue places on the whole site, so that items are released even if nobody opens a
    page."""
    overdue = joined().overdue()  # type: ignore[attr-defined]
    for_each(overdue, end_in_time, job="participants whose time is over")


def remove_who_only_agreed() -> None:
    """Remove people who agreed more than a day ago and answered nothing, with what they were
    assigned."""
    agreed = joined().filter(
        state=ParticipantState.CONSENTED, consented_at__lt=timezone.now() - AGREED_KEPT
    )
    for_each(agreed, _remove_agreed, job="people who only agreed")


@transaction.atomic
def _remove_agreed(participant: Participant) -> None:
    Seat.objects.filter(annotator=participant.annotator_id).lock()
    agreed = Participant.objects.filter(pk=participant.pk, state=ParticipantState.CONSENTED)
    if agreed.select_for_update().first() is None or _has_answered(participant):
        return
    Assignment.objects.filter(annotator=participant.annotator_id).delete()
    Participant.objects.filter(pk=participant.pk).delete()
    if participant.annotator:
        participant.annotator.delete()


def end_banned(link: OpenLink) -> int:
    """End the part of people whose ids were banned after they began; return how many."""
    banned = joined().filter(link=link, external_id__in=link.banned)
    return sum(end(participant, ParticipantState.BANNED) for participant in banned)


def remove_personal_data(participants: Iterable[Participant]) -> int:
    """Remove ids, comments and answers about the person for good; ratings stay under the
    annotator's name. Unfinished participants end as returned, because they can no longer be
    identified.

    Returns:
        The number of people.
    """
    removed = 0
    for participant in participants:
        with transaction.atomic():
            end(participant, ParticipantState.RETURNED)
            removed += Participant.objects.filter(pk=participant.pk).update(
                external_id=None, study="", session="", before={}, after={}
            )
            empty_free_texts([participant.annotator_id] if participant.annotator_id else [])
    return removed


def items_of(participant: Participant, seat: Seat) -> list[int] | None:
    """Return the ids of a participant's next assignments; empty if the campaign was closed or its
    deadline has passed, so that they reach the end. None if their part has just ended, after
    practice or with too many skips."""
    # Annotators with ordinary items have passed.
    if not seat.handed and practice_outcome(seat) is False:
        end(participant, ParticipantState.SCREENED, ScreenedFor.PRACTICE)
        return None
    if skips_too_much(participant.link, seat):
        end(participant, ParticipantState.INCOMPLETE, ScreenedFor.SKIPS)
        return None
    try:
        queue = queue_of(seat)
        # Release overdue items first, so that nobody is sent away while items are held by people
        # whose time is over.
        return queue_of(seat) if not queue and end_overdue(participant.link) else queue
    except AnnotationError:
        return []
