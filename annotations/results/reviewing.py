"""Reviews of answers: accept, fix, return, reject, restore, release items again, exclude a person.

A rejected answer is kept but does not count; its place is free for somebody else. A returned one
counts until its annotator corrects it. Of a fixed one the reviewer's answer counts, while the
annotator's own says how they agree with others. Every step is stored as a `Review`, with the answer
at that time.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.db import transaction
from django.db.models import OuterRef, QuerySet, Subquery
from django.utils import timezone
from django.utils.translation import gettext as _

from annotations.answering.answers import read_answer
from annotations.answering.counting import count_again
from annotations.answering.submission import shape_of
from annotations.answering.task_page import ANSWERABLE
from annotations.errors import AnnotationError
from annotations.models import (
    Annotator,
    AnswerChange,
    Assignment,
    AssignmentState,
    Campaign,
    CampaignState,
    Exclusion,
    ItemKind,
    Participant,
    ParticipantState,
    Review,
    ReviewAction,
    Seat,
)
from annotations.planning.assignment import end_leases, locked_assignment
from annotations.planning.places import count_places, keep_items_of
from evaluations.models.improving import withheld_documents

REASON_LIMIT = 2000


def answers_of(campaign: Campaign) -> QuerySet[Assignment]:
    """Return what was answered or skipped, newest first, without what is withheld; `reviewed` is
    the newest step of its review."""
    rows = Assignment.objects.filter(campaign=campaign).exclude(
        state__in=(AssignmentState.RESERVED, AssignmentState.EXPIRED)
    )
    hidden = withheld_documents(campaign.project_id)
    reviews = Review.objects.filter(assignment=OuterRef("pk")).order_by("-pk")
    rows = rows.annotate(reviewed=Subquery(reviews.values("action")[:1]))
    return rows.exclude(item__document__in=hidden).order_by("-submitted_at", "-pk")


def review(
    assignment_id: int, action: str, *, user: Any, reason: str = "",
    fields: Mapping[str, str] | None = None,
) -> Assignment:  # fmt: skip
    """Take a reviewer's step.

    Args:
        fields: the form of the answer that counts, of `fix`.

    Raises:
        AnnotationError: the answer is not in a state for it, or a reason is missing.
    """
    match action:
        case ReviewAction.ACCEPTED:
            return accept(assignment_id, user=user)
        case ReviewAction.RETURNED:
            return give_back(assignment_id, user=user, message=reason)
        case ReviewAction.FIXED:
            return fix(assignment_id, fields or {}, user=user, reason=reason)
        case ReviewAction.REJECTED:
            return reject(assignment_id, user=user, reason=reason)
        case ReviewAction.COUNTED:
            return restore(assignment_id, user=user)
        case ReviewAction.HANDED_OUT:
            return hand_out_again(assignment_id, user=user)
    raise AnnotationError("Accept, fix, return or reject an answer, or hand its item out again.")


@transaction.atomic
def accept(assignment_id: int, *, user: Any) -> Assignment:
    """Accept a submitted answer, which ends its review.

    Raises:
        AnnotationError: it is not submitted.
    """
    assignment = _submitted(assignment_id)
    _note([assignment], ReviewAction.ACCEPTED, user=user)
    return assignment


@transaction.atomic
def give_back(assignment_id: int, *, user: Any, message: str) -> Assignment:
    """Return a submitted answer to its annotator, who may correct it or ask back.

    Raises:
        AnnotationError: there is no message, it is not submitted, or its annotator cannot change
            it: the campaign is closed, or their part in it has ended.
    """
    assignment = _submitted(assignment_id)
    _give_back([assignment], user=user, message=message)
    return assignment


@transaction.atomic
def give_back_all(answers: QuerySet[Assignment], *, user: Any, message: str) -> int:
    """Return the submitted ones of one person's answers in one campaign; return how many.

    Raises:
        AnnotationError: none is submitted, or as by `give_back`; then none is returned.
    """
    of = {f"{name}__in": answers.values(name) for name in ("campaign", "annotator")}
    Seat.objects.filter(**of).lock()
    submitted = answers.filter(state=AssignmentState.SUBMITTED).select_related("campaign")
    assignments = list(submitted)
    if not assignments:
        raise AnnotationError("None of these answers is submitted; choose others to return.")
    _give_back(assignments, user=user, message=message)
    return len(assignments)


def _give_back(assignments: Sequence[Assignment], *, user: Any, message: str) -> None:
    """Return answers of one person in one campaign, whose seat is locked."""
    message = _reason(message, "Write a message; the annotator reads it beside the answer.")
    assignment = assignments[0]
    if assignment.campaign.state != CampaignState.OPEN:
        raise AnnotationError("Reopen the campaign first; until then nobody can correct answers.")
    person = assignment.annotator_id
    parts = Participant.objects.filter(annotator=person, link__campaign=assignment.campaign)
    is_over = parts.exclude(state=ParticipantState.ACTIVE).exists()
    if is_over or not assignment.campaign.seats.filter(annotator=person, removed_at=None).exists():
        raise AnnotationError("The part of this person has ended; fix or reject the answer.")
    _note(assignments, ReviewAction.RETURNED, user=user, reason=message)


@transaction.atomic
def fix(assignment_id: int, fields: Mapping[str, str], *, user: Any, reason: str) -> Assignment:
    """Replace a submitted answer by the reviewer's, which counts; comment, flag and spans stay, and
    the annotator's own answer is kept with the review.

    Raises:
        AnnotationError: it is not submitted, or no ordinary item, or the answer is incomplete.
    """
    assignment = _submitted(assignment_id)
    if assignment.item.kind != ItemKind.ORDINARY:
        raise AnnotationError("Answers to checks and practice items count nowhere; reject them.")
    if assignment.campaign.is_rating and not assignment.campaign.criteria.exists():
        raise AnnotationError("The campaign’s criteria were deleted, so nothing can be corrected.")
    before: dict[str, Any] = assignment.answer or {}
    shape = replace(shape_of(assignment), categories=(), severities=())
    after = before | {
        part: value
        for part, value in read_answer(shape, fields).items()
        if part not in ("comment", "flagged", "spans")
    }
    _note([assignment], ReviewAction.FIXED, user=user, reason=reason.strip()[:REASON_LIMIT])
    AnswerChange.objects.create(assignment=assignment, user=user, before=before, after=after)
    assignment.answer, assignment.version = after, assignment.version + 1
    assignment.save(update_fields=["answer", "version"])
    project = assignment.campaign.project_id
    count_again(assignment.annotator_id, assignment.shown, project=project)
    return assignment


@transaction.atomic
def ask_back(seat: Seat, assignment_id: int, question: str) -> None:
    """Ask the reviewer about an answer that was returned or rejected.

    Raises:
        AnnotationError: it was neither, or the question is empty.
    """
    question = _reason(question, _("Write your question first."))
    assignment = locked_assignment(seat, assignment_id)
    newest = assignment.reviews.order_by("-pk").first()
    if newest is None or newest.action not in ANSWERABLE:
        raise AnnotationError(_("You can ask about answers that were returned or rejected."))
    _note([assignment], ReviewAction.ASKED, user=None, reason=question)


@transaction.atomic
def reject(assignment_id: int, *, user: Any, reason: str) -> Assignment:
    """Reject a submitted answer: it no longer counts, and its place is free.

    Raises:
        AnnotationError: there is no reason, or nothing that is submitted.
    """
    reason = _reason(reason, "Say why the answer is rejected; its annotator may ask.")
    assignment = _submitted(assignment_id)
    _reject([assignment], user=user, reason=reason)
    return assignment


@transaction.atomic
def restore(assignment_id: int, *, user: Any) -> Assignment:
    """Restore a rejected answer, so that it counts again.

    Raises:
        AnnotationError: it is not rejected, or its annotator is excluded.
    """
    assignment = _locked(assignment_id)
    if assignment.state != AssignmentState.REJECTED:
        raise AnnotationError("Only a rejected answer can be counted again.")
    if is_excluded(assignment.annotator_id):
        raise AnnotationError("This person is excluded; lift the exclusion first.")
    _restore([assignment], user=user)
    return assignment


@transaction.atomic
def hand_out_again(assignment_id: int, *, user: Any) -> Assignment:
    """Release a skipped or rejected item to everybody, including the person who had it; their
    answer stays in the record.

    Raises:
        AnnotationError: it is neither skipped nor rejected.
    """
    assignment = _locked(assignment_id)
    _hand_out([assignment], user=user)
    return assignment


@transaction.atomic
def hand_out_skipped(campaign: Campaign, *, user: Any) -> int:
    """Release all skipped items of a campaign to everybody; return how many."""
    skipped = Assignment.objects.filter(campaign=campaign, state=AssignmentState.SKIPPED)
    seats = campaign.seats.filter(annotator__in=skipped.values("annotator")).lock()
    # Only of these: who skips from now on may answer at the same moment.
    of_these = skipped.filter(annotator__in=[seat.annotator_id for seat in seats])
    assignments = list(of_these.select_related("campaign", "item").order_by("pk"))
    _hand_out(assignments, user=user)
    return len(assignments)


def _hand_out(assignments: list[Assignment], *, user: Any) -> None:
    for assignment in assignments:
        if assignment.state not in (AssignmentState.SKIPPED, AssignmentState.REJECTED):
            raise AnnotationError(
                "Only skipped and rejected items can be handed out again; reject the answer first."
            )
    _note(assignments, ReviewAction.HANDED_OUT, user=user)
    # Their places have been free since they were skipped or rejected.
    _update(
        assignments,
        state=AssignmentState.EXPIRED, answer=None, draft=None, submitted_at=None, seconds=None,
        flagged=False, skip_reason="",
    )  # fmt: skip


# People


def is_excluded(annotator: int) -> bool:
    return Exclusion.objects.filter(annotator=annotator, lifted_at=None).exists()


@transaction.atomic
def exclude(annotator: Annotator, *, user: Any, reason: str) -> Exclusion:
    """Exclude a person from a project's campaigns: their submitted answers are rejected, and they
    get no further items.

    Raises:
        AnnotationError: there is no reason, or they are excluded already.
    """
    reason = _reason(reason, "Say why the person is excluded; it is kept with the answers.")
    # Not FOR UPDATE: reservations refer to the annotator while they hold items.
    Annotator.objects.select_for_update(no_key=True).get(pk=annotator.pk)
    if is_excluded(annotator.pk):
        raise AnnotationError(f"{annotator} is excluded already.")
    exclusion = Exclusion.objects.create(
        annotator=annotator, user=user, by_name=_name(user), reason=reason, at=timezone.now()
    )
    seats = Seat.objects.filter(annotator=annotator)
    released = end_leases(seats.lock())
    seats.filter(removed_at=None).update(removed_at=exclusion.at)
    submitted = _of_person(annotator, AssignmentState.SUBMITTED)
    _reject(submitted, user=user, reason=f"Excluded: {reason}"[:REASON_LIMIT], released=released)
    keep_items_of([annotator.pk])
    return exclusion


@transaction.atomic
def lift(annotator: Annotator, *, user: Any) -> None:
    """Lift an exclusion: the answers that it rejected count again, and the person's seats are
    restored.

    Raises:
        AnnotationError: they are not excluded.
    """
    exclusion = (
        # Of two requests at the same time, the second finds it lifted.
        Exclusion.objects.select_for_update().filter(annotator=annotator, lifted_at=None).first()
    )
    if exclusion is None:
        raise AnnotationError(f"{annotator} is not excluded.")
    exclusion.lifted_at, exclusion.lifted_by_name = timezone.now(), _name(user)
    exclusion.save(update_fields=["lifted_at", "lifted_by_name"])
    seats = Seat.objects.filter(annotator=annotator)
    seats.lock()
    seats.filter(removed_at=exclusion.at).update(removed_at=None)
    keep_items_of([annotator.pk])
    # Answers that were rejected individually before stay rejected.
    by_exclusion = Review.objects.filter(
        assignment__annotator=annotator, at__gte=exclusion.at, action=ReviewAction.REJECTED
    ).values("assignment")
    rejected = _of_person(annotator, AssignmentState.REJECTED)
    of_these = set(by_exclusion.values_list("assignment", flat=True))
    _restore([row for row in rejected if row.pk in of_these], user=user)


def _of_person(annotator: Annotator, state: AssignmentState) -> list[Assignment]:
    rows = Assignment.objects.filter(annotator=annotator, state=state)
    return list(rows.select_related("campaign", "item").order_by("pk"))


# Helpers


def _reject(
    assignments: list[Assignment], *, user: Any, reason: str, released: Sequence[int] = ()
) -> None:
    _note(assignments, ReviewAction.REJECTED, user=user, reason=reason)
    _set_state(assignments, AssignmentState.REJECTED, released=released)


def _restore(assignments: list[Assignment], *, user: Any) -> None:
    _note(assignments, ReviewAction.COUNTED, user=user)
    # Somebody else may have answered in its place; then the item has one answer more than planned.
    _set_state(assignments, AssignmentState.SUBMITTED)


def _set_state(
    assignments: list[Assignment], state: AssignmentState, *, released: Sequence[int] = ()
) -> None:
    """Set the state of assignments whose seats are locked, and count the places of their items and
    of released ones: all at once, as items are locked in one order."""
    _update(assignments, state=state)
    for assignment in assignments:
        assignment.state = state
    ordinary = [row for row in assignments if row.item.kind == ItemKind.ORDINARY]
    count_places([*released, *(row.item_id for row in ordinary)])
    for annotator in dict.fromkeys(row.annotator_id for row in ordinary):
        of_person = [row for row in ordinary if row.annotator_id == annotator]
        count_again(
            annotator,
            {output for row in of_person for output in row.shown},
            project=of_person[0].campaign.project_id,
        )


def _update(assignments: Sequence[Assignment], **fields: Any) -> None:
    ids = [assignment.pk for assignment in assignments]
    # In parts, as a statement has at most 65,535 parameters.
    for start in range(0, len(ids), 10_000):
        Assignment.objects.filter(pk__in=ids[start : start + 10_000]).update(**fields)


def _note(
    assignments: Iterable[Assignment], action: ReviewAction, *, user: Any, reason: str = ""
) -> None:
    Review.objects.bulk_create(
        Review(
            assignment=assignment, user=user, by_name=_name(user), action=action, reason=reason,
            answer=assignment.answer, skip_reason=assignment.skip_reason, at=timezone.now(),
        )
        for assignment in assignments
    )  # fmt: skip


def _submitted(assignment_id: int) -> Assignment:
    """
    Raises:
        AnnotationError: it is not submitted.
    """
    assignment = _locked(assignment_id)
    if assignment.state != AssignmentState.SUBMITTED:
        raise AnnotationError("Only a submitted answer can be accepted, fixed, returned, rejected.")
    return assignment


def _locked(assignment_id: int) -> Assignment:
    """Return an assignment, with its annotator's seat locked."""
    rows = Assignment.objects.filter(pk=assignment_id)
    Seat.objects.filter(**rows.values("campaign", "annotator").get()).lock()
    return rows.select_related("campaign", "item").get()


def _reason(written: str, message: str) -> str:
    reason = written.strip()[:REASON_LIMIT]
    if not reason:
        raise AnnotationError(message, fields={"reason": message})
    return reason


def _name(user: Any) -> str:
    return user.get_username() if user is not None else ""
