"""Assign items under a lease, never to more annotators than planned, never twice to the same one.

The lock on an annotator's seat serialises everything that changes their assignments: their own
requests, owners' reviews and the end of leases. Different annotators never wait for each other,
because items that somebody else is reserving are skipped (SKIP LOCKED).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Any

from django.db import connection, transaction
from django.db.models import F, FloatField, Q, Value
from django.db.models.functions import Extract, Least, Now
from django.utils import timezone
from django.utils.translation import gettext as _

from annotations.errors import AnnotationError
from annotations.models import (
    Assignment,
    AssignmentState,
    Campaign,
    CampaignItem,
    CampaignState,
    ItemKind,
    ItemOrder,
    Seat,
)
from annotations.planning.places import count_places
from annotations.planning.waiting import most_items
from geval.statistics.item_plan import checks_due, shown_order
from geval_site.sql import JoinedQuery, execute_sql, fetch_row, fetch_rows

# Keep at least this many items reserved, so that the next one is loaded after submitting; a
# document's items are assigned together.
AHEAD = 3
# Reserved by one statement; but nobody else gets an item that somebody keeps for later.
PACK = 8
DOCUMENT_PACK = 32

# By position, as items are locked everywhere (`SeatQuerySet.lock`), to prevent deadlocks.
_PICK = """SELECT i.id, i.document_id, i.position, i.outputs FROM annotations_campaignitem i
           WHERE i.campaign_id = %(campaign)s AND i.places > 0 AND i.position > %(after)s
             AND {whose} {more}
             AND NOT EXISTS (SELECT 1 FROM annotations_assignment a WHERE a.item_id = i.id
                             AND a.annotator_id = %(annotator)s AND a.state <> 'expired')
           ORDER BY i.position LIMIT %(most)s FOR UPDATE OF i {locked}"""
_ASSIGNMENTS = JoinedQuery(
    {"a": Assignment, "i": CampaignItem},
    """FROM annotations_assignment a JOIN annotations_campaignitem i ON i.id = a.item_id
       WHERE a.id = %s AND a.campaign_id = %s AND a.annotator_id = %s""",
)
# Whether to skip items that somebody else is reserving, or to wait for them.
_LOCKED = {False: "SKIP LOCKED", True: ""}
_OPEN = "i.kept_for IS NULL"
# The first part is that of the index.
_KEPT = "i.kept_for IS NOT NULL AND %(annotator)s = ANY(i.kept_for)"


class IdleReason(StrEnum):
    """Why an annotator has nothing to do."""

    FINISHED = "finished"
    SHARE_DONE = "share done"
    OTHERS_HOLD = "others hold the rest"
    NOT_PASSED = "practice not passed"
    SKIPPED = "everybody skipped"


@dataclass(frozen=True)
class _Picked:
    item: int
    position: int
    outputs: list[int]


def refuse_if_not_open(campaign: Campaign) -> None:
    """Raises:
    AnnotationError: the campaign has not begun, is closed, or its deadline is over.
    """
    if campaign.state == CampaignState.DRAFT:
        raise AnnotationError(
            _("%(campaign)s has not been opened yet.") % {"campaign": campaign.name},
            keeps_place=False,
        )
    if campaign.state == CampaignState.CLOSED:
        raise AnnotationError(
            _(
                "%(campaign)s is closed, so this was not submitted. Ask its owner to reopen it;"
                " your draft is kept."
            )
            % {"campaign": campaign.name},
            keeps_place=False,
        )
    if campaign.deadline and campaign.deadline < timezone.now():
        raise AnnotationError(
            _(
                "The deadline of %(campaign)s has passed, so this was not submitted. Ask its owner"
                " for more time; your draft is kept."
            )
            % {"campaign": campaign.name},
            keeps_place=False,
        )


def queue_of(seat: Seat) -> list[int]:
    """Return the ids of an annotator's next assignments, in order, reserving more if few are left.

    Raises:
        AnnotationError: the campaign is not open.
    """
    refuse_if_not_open(seat.campaign)
    reserved = _reserved(seat)
    # Annotators with a number of items of their own get these once practice is finished.
    if not reserved or (len(reserved) < AHEAD and seat.most_items is None):
        with transaction.atomic():
            _lock_for_reserving(seat)
            some = _reserve_more(seat)
            if not some:
                release_expired(seat.campaign_id)
                some = _reserve_more(seat)
        if not some and seat.most_items is not None:
            # Nobody should end as finished only because others were reserving items at that moment.
            # A separate transaction waits for these items; it holds no other items and locks them
            # by position, which prevents deadlocks.
            with transaction.atomic():
                _lock_for_reserving(seat)
                _reserve_more(seat, waits=True)
        reserved = _reserved(seat)
    return reserved


def idle_reason(seat: Seat) -> IdleReason:
    """Return why an annotator's queue is empty: all is done, or their share while others have not
    done theirs, everybody skipped every item, or others hold items that they may release. People
    with a number of items, their own or the campaign's, do not wait for others."""
    if not practice_outcome(seat):
        return IdleReason.NOT_PASSED
    has_most = not _items_left(seat)
    if seat.most_items is not None or (has_most and seat.campaign.most_each is not None):
        return IdleReason.FINISHED
    handed = Assignment.objects.filter(campaign=seat.campaign_id, item__kind=ItemKind.ORDINARY)
    # What this annotator has had does not come back, whoever releases it.
    had = handed.filter(annotator=seat.annotator_id).exclude(state=AssignmentState.EXPIRED)
    own = Q(kept_for=None) | Q(kept_for__contains=[seat.annotator_id])
    left = seat.campaign.items.filter(own).exclude(pk__in=had.values("item"))
    is_held = handed.filter(state=AssignmentState.RESERVED, item__in=left).exists()
    if has_most and (is_held or left.filter(places__gt=0).exists()):
        return IdleReason.SHARE_DONE
    if is_held:
        return IdleReason.OTHERS_HOLD
    is_skipped = handed.filter(state=AssignmentState.SKIPPED).exists()
    if is_skipped and not handed.filter(state=AssignmentState.SUBMITTED).exists():
        return IdleReason.SKIPPED
    return IdleReason.FINISHED


def _reserved(seat: Seat) -> list[int]:
    """Return the reserved items, renewing leases that have used a quarter of their time, under the
    seat's lock as they are ended."""
    lease = seat.campaign.lease_minutes
    rows = fetch_rows(
        """SELECT id, lease_until < now() + make_interval(secs => %s)
            FROM annotations_assignment
           WHERE annotator_id = %s AND campaign_id = %s AND state = 'reserved' ORDER BY id""",
        [lease * 45, seat.annotator_id, seat.campaign_id],
    )
    if any(is_old for _, is_old in rows):
        selected = fetch_rows(
            """UPDATE annotations_assignment SET lease_until = now() + make_interval(secs => %s)
               WHERE annotator_id = %s AND campaign_id = %s AND state = 'reserved'
                   AND EXISTS (SELECT FROM annotations_seat WHERE id = %s FOR NO KEY UPDATE)
               RETURNING id""",
            [lease * 60, seat.annotator_id, seat.campaign_id, seat.pk],
        )
        # Some items may have been released between the two statements.
        # RETURNING has no order; items come in the order of their reservation.
        return sorted(pk for (pk,) in selected)
    return [pk for pk, _ in rows]


def _lock_for_reserving(seat: Seat) -> None:
    """Lock the seat, which serialises this annotator's requests, and read its position.

    Raises:
        AnnotationError: the annotator was removed from the campaign.
    """
    seat.cursor, seat.handed, is_removed = fetch_row(
        "SELECT cursor, handed, removed_at IS NOT NULL FROM annotations_seat WHERE id = %s"
        " FOR UPDATE",
        [seat.pk],
    )
    if is_removed:
        # Removed since the request began; items reserved now would only be released when their
        # lease expires.
        raise AnnotationError(
            _("You are no longer an annotator of %(campaign)s.") % {"campaign": seat.campaign.name},
            keeps_place=False,
        )


def _reserve_more(seat: Seat, *, waits: bool = False) -> int:
    """Reserve a pack of items for the annotator of a locked seat; return how many."""
    practice = _pick_checks(seat, (ItemKind.PRACTICE,), None)
    if not practice and not practice_outcome(seat):
        return 0
    picked = practice or _pick_ordinary(seat, waits=waits)
    if not practice and picked:
        due = checks_due(seat.handed, len(picked), seat.campaign.check_percent)
        checks = _pick_checks(seat, (ItemKind.GOLD, ItemKind.ATTENTION), due) if due else []
        seat.handed += len(picked)
        seat.cursor = max(item.position for item in picked)
        seat.save(update_fields=["handed", "cursor"])
        execute_sql(
            "UPDATE annotations_campaignitem SET places = places - 1 WHERE id = ANY(%s)",
            [[item.item for item in picked]],
        )
        # Within a pack each annotator has a different order, so that no output always follows the
        # same one.
        order = shown_order(
            range(len(picked)),
            seed=seat.campaign.seed,
            item=seat.cursor,
            annotator=seat.annotator_id,
        )
        picked = [picked[index] for index in order]
        for check in checks:  # spread among the other items, never first
            picked.insert(1 + check.item % len(picked), check)
    if picked:
        _assign(seat, picked)
    return len(picked)


def practice_outcome(seat: Seat) -> bool | None:
    """Whether enough of an annotator's first answers to practice items were as expected; skipped
    items count as wrong. None while some are left; True without a pass mark."""
    mark = seat.campaign.practice_pass
    if not mark:
        return True
    states = list(
        Assignment.objects.filter(
            campaign=seat.campaign_id, annotator=seat.annotator_id, item__kind=ItemKind.PRACTICE
        ).values_list("state", "passed")
    )
    if any(state in (AssignmentState.RESERVED, AssignmentState.EXPIRED) for state, _ in states):
        return None
    return 100 * sum(bool(passed) for _, passed in states) >= mark * len(states)


def _items_left(seat: Seat) -> int:
    """Return how many more ordinary items the annotator of a locked seat may get."""
    most = most_items(seat)
    if most is None:
        return DOCUMENT_PACK
    held = Assignment.objects.filter(
        campaign=seat.campaign_id,
        annotator=seat.annotator_id,
        item__kind=ItemKind.ORDINARY,
        state__in=[AssignmentState.RESERVED, AssignmentState.SUBMITTED],
    )
    return max(0, most - held.count())


def take_more(seat: Seat) -> None:
    """Give an annotator items beyond their even share from now on."""
    Seat.objects.filter(pk=seat.pk).update(takes_more=True)


def _pick_ordinary(seat: Seat, *, waits: bool) -> list[_Picked]:
    """Return free items: first those that are kept for the annotator, all of them in time; then, as
    far as they may get more, from their position or from the start. Possibly a whole document."""
    kept = _pick(seat, _KEPT, DOCUMENT_PACK, after=-1, waits=waits)
    if kept:
        return kept
    left = _items_left(seat)
    if not left:
        return []
    return _pick(seat, _OPEN, left, after=seat.cursor, waits=waits) or _pick(
        seat, _OPEN, left, after=-1, waits=waits
    )


def _pick(seat: Seat, whose: str, left: int, *, after: int, waits: bool) -> list[_Picked]:
    in_documents = seat.campaign.order == ItemOrder.DOCUMENT
    values: dict[str, Any] = {
        "campaign": seat.campaign_id,
        "annotator": seat.annotator_id,
        "after": after,
        "most": 1 if in_documents else min(PACK, left),
    }
    rows = fetch_rows(_PICK.format(whose=whose, more="", locked=_LOCKED[waits]), values)
    if rows and in_documents:
        of_document = _PICK.format(
            whose=whose, more="AND i.document_id = %(document)s", locked=_LOCKED[waits]
        )
        most = min(DOCUMENT_PACK, left) - 1
        more = {"document": rows[0][1], "after": rows[0][2], "most": most}
        rows += fetch_rows(of_document, values | more)
    return [_Picked(pk, position, outputs) for pk, _document, position, outputs in rows]


def _pick_checks(seat: Seat, kinds: tuple[str, ...], most: int | None) -> list[_Picked]:
    """Return checks that this annotator has not had, up to `most` (None: all), in a random order
    per annotator."""
    if not (seat.campaign.gold or seat.campaign.attention_checks):
        return []
    rows = fetch_rows(
        """SELECT i.id, i.position, i.outputs FROM annotations_campaignitem i
           WHERE i.campaign_id = %(campaign)s AND i.kind <> 'ordinary'
               AND i.kind = ANY(%(kinds)s)
             AND NOT EXISTS (SELECT 1 FROM annotations_assignment a WHERE a.item_id = i.id
                             AND a.annotator_id = %(annotator)s AND a.state <> 'expired')
           ORDER BY md5(i.id::text || ':' || %(annotator)s::text) LIMIT %(most)s""",
        {
            "campaign": seat.campaign_id,
            "annotator": seat.annotator_id,
            "kinds": list(kinds),
            "most": most,
        },
    )
    return [_Picked(*row) for row in rows]


def _assign(seat: Seat, picked: list[_Picked]) -> None:
    seed, annotator = seat.campaign.seed, seat.annotator_id
    rows = [
        (item.item, shown_order(item.outputs, seed=seed, item=item.item, annotator=annotator))
        for item in picked
    ]
    with connection.cursor() as cursor:
        # An annotator may get an item again after its lease expired; their draft is kept with it.
        cursor.executemany(
            """INSERT INTO annotations_assignment (campaign_id, item_id, annotator_id, state,
                shown, lease_until)
               VALUES (%s, %s, %s, 'reserved', %s, now() + make_interval(secs => %s))
               ON CONFLICT (item_id, annotator_id) DO UPDATE
               SET state = 'reserved', lease_until = EXCLUDED.lease_until, reserved_at = now()""",
            [
                (seat.campaign_id, item, annotator, shown, seat.campaign.lease_minutes * 60)
                for item, shown in rows
            ],
        )


@transaction.atomic
def release_expired(campaign_id: int) -> int:
    """End expired leases and release their places; return how many.

    Annotators whose seats are locked are skipped: they are at work, which may renew their leases.
    """
    rows = fetch_rows(
        """WITH gone AS (
               SELECT a.id FROM annotations_assignment a
               JOIN annotations_seat s
                   ON s.campaign_id = a.campaign_id AND s.annotator_id = a.annotator_id
               WHERE a.campaign_id = %s AND a.state = 'reserved' AND a.lease_until < now()
               FOR NO KEY UPDATE OF s, a SKIP LOCKED
           )
           UPDATE annotations_assignment a SET state = 'expired' FROM gone
           WHERE a.id = gone.id RETURNING a.item_id""",
        [campaign_id],
    )
    items = [item for (item,) in rows]
    if items:
        count_places(items)
    return len(items)


def end_leases(seats: Iterable[Seat]) -> list[int]:
    """End all leases of seats that the caller has locked; return the ids of the items, whose places
    the caller counts."""
    seats = list(seats)
    rows = fetch_rows(
        """UPDATE annotations_assignment a SET state = 'expired'
           FROM annotations_seat s
           WHERE s.id = ANY(%s) AND a.campaign_id = s.campaign_id
               AND a.annotator_id = s.annotator_id AND a.state = 'reserved'
           RETURNING a.item_id""",
        [[seat.pk for seat in seats]],
    )
    return [item for (item,) in rows]


def reserve_again(assignment: Assignment) -> None:
    """Reserve a skipped or expired assignment again for its annotator, if there is a free place.

    Call this in a transaction that has locked the annotator's seat.

    Raises:
        AnnotationError: the item has no free places left.
    """
    item = assignment.item
    if item.kind == ItemKind.ORDINARY:
        count = execute_sql(
            "UPDATE annotations_campaignitem SET places = places - 1 WHERE id = %s AND places > 0"
            " AND coalesce(%s = ANY(kept_for), true)",
            [item.pk, assignment.annotator_id],
        )
        if not count:
            raise AnnotationError(
                _(
                    "Your time for this item expired and others have answered it, so it was"
                    " not submitted. Your input is kept as a draft; continue with the next"
                    " item."
                ),
                keeps_place=False,
            )
    lease = timedelta(minutes=assignment.campaign.lease_minutes)
    assignment.state, assignment.lease_until = AssignmentState.RESERVED, timezone.now() + lease


@transaction.atomic
def skip(seat: Seat, assignment_id: int, reason: str) -> None:
    """Skip an item with a reason; it is not assigned to this annotator again automatically.

    Raises:
        AnnotationError: the campaign is not open, or the item was already submitted.
    """
    assignment = locked_assignment(seat, assignment_id)
    refuse_if_not_open(seat.campaign)
    if assignment.state in (AssignmentState.SUBMITTED, AssignmentState.REJECTED):
        raise AnnotationError(
            _("This item was already submitted; change your answer instead of skipping it.")
        )
    assignment.state, assignment.skip_reason = AssignmentState.SKIPPED, reason.strip()[:2000]
    assignment.save(update_fields=["state", "skip_reason"])
    count_places([assignment.item_id])


def locked_assignment(seat: Seat, assignment_id: int) -> Assignment:
    """Return the annotator's own assignment, with their seat locked for the rest of the
    transaction.

    Raises:
        AnnotationError: the assignment is not theirs, or they were removed from the campaign.
    """
    is_seated = fetch_row(
        "SELECT 1 FROM annotations_seat WHERE id = %s AND removed_at IS NULL FOR UPDATE",
        [seat.pk],
    )
    if not is_seated:
        raise AnnotationError(
            _("You are no longer an annotator of %(campaign)s, so nothing was stored.")
            % {"campaign": seat.campaign.name},
            keeps_place=False,
        )
    row = _ASSIGNMENTS.first([assignment_id, seat.campaign_id, seat.annotator_id])
    if row is None:
        raise AnnotationError(
            _(
                "This item is not assigned to you, so nothing was submitted. Continue with your own"
                " next item."
            ),
            keeps_place=False,
        )
    assignment: Assignment
    assignment, assignment.item = row
    assignment.campaign = seat.campaign
    return assignment


@transaction.atomic
def keep_draft(
    seat: Seat, assignment_id: int, *, number: int, draft: dict[str, Any], seconds: float | None
) -> bool:
    """Store a draft unless a newer one is stored; return whether it was stored.

    Drafts of closed campaigns are stored too: input is never lost.

    Args:
        seconds: active time as the page measured it; at most what passed on the server counts.
    """
    held = Extract(Now() - F("reserved_at"), "epoch", output_field=FloatField())
    counted = {} if seconds is None else {"seconds": Least(Value(seconds), held)}
    kept = Assignment.objects.filter(
        pk=assignment_id,
        annotator=seat.annotator_id,
        campaign=seat.campaign_id,
        draft_number__lt=number,
    ).update(draft=draft, draft_number=number, **counted)
    return bool(kept)


def previous_of(seat: Seat, *, before: int) -> Assignment | None:
    """Return the item that an annotator answered or skipped before another one, in the order in
    which they got them; the last one for `before=0`."""
    rows = Assignment.objects.filter(
        campaign=seat.campaign_id,
        annotator=seat.annotator_id,
        state__in=(AssignmentState.SUBMITTED, AssignmentState.SKIPPED),
    ).order_by("-reserved_at", "-pk")
    at = Assignment.objects.filter(pk=before).values_list("reserved_at", flat=True).first()
    if at is not None:
        rows = rows.filter(Q(reserved_at__lt=at) | Q(reserved_at=at, pk__lt=before))
    return rows.first()
