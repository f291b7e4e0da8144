"""Places of an open link: taken within its quotas, and released.

Quotas count rows of participants, which no database constraint can limit. Taking a place therefore
locks the link's row while counting and recording it: people who arrive at the same link are counted
one at a time, and those of other links never wait.
"""

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from annotations.errors import AnnotationError
from annotations.models import (
    Annotator,
    Assignment,
    AssignmentState,
    CampaignState,
    OpenLink,
    Participant,
    ParticipantState,
    ScreenedFor,
    Seat,
)
from annotations.open_links.arrival import Arrival, joined, participant_by
from annotations.planning.assignment import end_leases, practice_outcome, queue_of
from annotations.planning.places import count_places
from evaluations.models.row_by_row import for_each
from geval.texts.short_questions import question_of


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


def take_place(participant: Participant, before: dict[str, Any]) -> Participant:
    """Give a person who agreed a place, or screen them out; return the updated participant.

    Args:
        before: their answers to the link's first questions.
    """
    end_overdue(participant.link)
    with transaction.atomic():
        # NO KEY UPDATE, so that new participants, whose rows reference the link, need not wait.
        link = OpenLink.objects.select_for_update(no_key=True).get(pk=participant.link_id)
        held = Participant.objects.get(pk=participant.pk)
        if held.state == ParticipantState.CONSENTED:
            now = timezone.now()
            held.before = before
            held.screened_for = _why_not(link, before)
            if held.screened_for:
                held.state, held.ended_at = ParticipantState.SCREENED, now
            else:
                held.state, held.started_at = ParticipantState.ACTIVE, now
                held.until = now + timedelta(minutes=link.minutes)
            held.save()
    return joined().get(pk=participant.pk)


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
    """End the part of a participant with nothing left to do: as done, or as screened out if they
    answered no item. Return whether it had not ended before.

    Args:
        after: their answers to the link's last questions.
    """
    answered = Assignment.objects.filter(
        campaign=participant.link.campaign_id,
        annotator=participant.annotator_id,
        state=AssignmentState.SUBMITTED,
        item__kind="ordinary",
    )
    if not answered.exists():
        return end(participant, ParticipantState.SCREENED, ScreenedFor.ITEMS)
    return end(participant, ParticipantState.DONE, after=after)


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


def end_overdue(link: OpenLink) -> int:
    """End the part of everybody whose time is over; return how many."""
    overdue = joined().filter(link=link).overdue()  # type: ignore[attr-defined]
    return sum(end(participant, ParticipantState.TIMED_OUT) for participant in overdue)


def end_all_overdue() -> None:
    """End overdue parts on the whole site, so that items are released even if nobody opens a
    page."""
    overdue = joined().overdue()  # type: ignore[attr-defined]
    for_each(
        overdue,
        lambda participant: end(participant, ParticipantState.TIMED_OUT),
        job="participants whose time is over",
    )


def end_banned(link: OpenLink) -> int:
    """End the part of people whose ids were banned after they began; return how many."""
    banned = joined().filter(link=link, external_id__in=link.banned)
    return sum(end(participant, ParticipantState.BANNED) for participant in banned)


def remove_personal_data(participants: Iterable[Participant]) -> int:
    """Remove ids and answers about the person for good; ratings stay under the annotator's name.
    Unfinished participants end as returned, because they can no longer be identified.

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
    return removed


def items_of(participant: Participant, seat: Seat) -> list[int] | None:
    """Return the ids of a participant's next assignments; empty if the campaign was closed or its
    deadline has passed, so that they reach the end. None if they have just been screened out after
    practice."""
    # Annotators with ordinary items have passed.
    if not seat.handed and practice_outcome(seat) is False:
        end(participant, ParticipantState.SCREENED, ScreenedFor.PRACTICE)
        return None
    try:
        queue = queue_of(seat)
        # Release overdue items first, so that nobody is sent away while items are held by people
        # whose time is over.
        return queue_of(seat) if not queue and end_overdue(participant.link) else queue
    except AnnotationError:
        return []
