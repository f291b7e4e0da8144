"""How much is reserved ahead, for how long, in which order, and what comes back."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db.models.expressions import RawSQL
from django.utils import timezone

from annotations.answering.submission import submit
from annotations.errors import AnnotationError
from annotations.models import (
    Assignment,
    Campaign,
    CampaignItem,
    CampaignState,
    ItemKind,
    ItemOrder,
    Seat,
)
from annotations.planning.assignment import (
    IdleReason,
    idle_reason,
    keep_draft,
    locked_assignment,
    queue_of,
    refuse_if_not_open,
    release_expired,
    skip,
)

pytestmark = pytest.mark.django_db
Work = Callable[..., tuple[Campaign, Seat]]


@pytest.fixture
def work(
    make_campaign: Callable[..., Campaign], annotators: list[User], seat_of: Callable[..., Seat]
) -> Work:
    """An open campaign with so many items, of one output each, and the first annotator's seat."""

    def make(
        items: int, *, overlap: int = 2, kinds: str = "", **fields: Any
    ) -> tuple[Campaign, Seat]:
        campaign = make_campaign(**({"order": ItemOrder.RANDOM, "overlap": overlap} | fields))
        outputs = [item.outputs for item in campaign.items.order_by("position")]
        document = campaign.items.first().document  # type: ignore[union-attr]
        campaign.items.all().delete()
        CampaignItem.objects.bulk_create(
            CampaignItem(
                campaign=campaign, document=document, position=at,
                outputs=outputs[at % len(outputs)], kind=kinds or ItemKind.ORDINARY,
                places=0 if kinds else overlap,
            )
            for at in range(items)
        )  # fmt: skip
        return campaign, seat_of(campaign, annotators[0])

    return make


def finish(*assignments: int) -> None:
    Assignment.objects.filter(pk__in=assignments).update(
        state="submitted", submitted_at=timezone.now(), answer={}
    )


def lease_left(pk: int) -> float:
    """In seconds, by the clock of the database, which stands still within a test."""
    left = RawSQL("extract(epoch FROM lease_until - now())", [])
    return float(Assignment.objects.annotate(left=left).get(pk=pk).left)


def let_lease_have(seconds: float, **which: object) -> None:
    until = RawSQL("now() + make_interval(secs => %s)", [seconds])
    Assignment.objects.filter(**which).update(lease_until=until)


# How much


def test_eight_items_are_reserved_and_eight_more_once_two_are_left(work: Work) -> None:
    _campaign, seat = work(30)

    first = queue_of(seat)
    finish(*first[:5])
    with_three = queue_of(seat)
    finish(first[5])
    with_two = queue_of(seat)

    assert len(first) == 8
    assert with_three == first[5:]
    assert (with_two[:2], len(with_two)) == (first[6:], 10)


def test_a_document_is_reserved_as_a_whole_up_to_32_items(work: Work) -> None:
    campaign, seat = work(34, order=ItemOrder.DOCUMENT)
    rest = CampaignItem.objects.filter(campaign=campaign, position__gte=33)
    rest.update(document=campaign.project.documents.exclude(pk=rest[0].document_id).first())

    first = queue_of(seat)
    finish(*first)
    then = queue_of(seat)
    finish(*then)

    of_document = [
        sorted(Assignment.objects.filter(pk__in=queue).values_list("item__position", flat=True))
        for queue in (first, then, queue_of(seat))
    ]
    assert of_document == [list(range(32)), [32], [33]]


def test_a_reserved_item_has_a_place_less(work: Work) -> None:
    campaign, seat = work(9, overlap=3)

    queue_of(seat)

    places = campaign.items.order_by("position").values_list("places", flat=True)
    assert list(places) == [2] * 8 + [3]


def test_an_annotator_goes_on_from_the_last_item_and_not_from_one_that_was_freed(
    work: Work,
) -> None:
    campaign, seat = work(30, overlap=1)
    campaign.items.filter(position__in=range(1, 7)).update(places=0)
    first = queue_of(seat)
    finish(*first)
    campaign.items.filter(position=3).update(places=1)

    positions = [
        sorted(Assignment.objects.filter(pk__in=pks).values_list("item__position", flat=True))
        for pks in (first, queue_of(seat))
    ]
    assert positions == [[0, *range(7, 14)], list(range(14, 22))]


def test_the_end_of_the_list_is_followed_by_its_beginning(
    work: Work, seat_of: Callable[..., Seat], annotators: list[User]
) -> None:
    campaign, seat = work(10, overlap=1)
    others = queue_of(seat)
    second = seat_of(campaign, annotators[1])
    mine = queue_of(second)
    finish(*mine)
    skip(seat, others[0], "")

    assert len(mine) == 2
    freed = Assignment.objects.get(pk=others[0]).item_id
    assert [Assignment.objects.get(pk=pk).item_id for pk in queue_of(second)] == [freed]


def test_the_only_item_comes_back_after_its_lease_with_the_draft(work: Work) -> None:
    _campaign, seat = work(1, overlap=1)
    (only,) = queue_of(seat)
    keep_draft(seat, only, number=1, draft={"comment": "half"}, seconds=None)
    let_lease_have(-1)
    Assignment.objects.update(reserved_at=timezone.now() - timedelta(hours=1))
    release_expired(seat.campaign_id)

    assert queue_of(seat) == [only]
    again = Assignment.objects.get(pk=only)
    assert (again.state, again.draft) == ("reserved", {"comment": "half"})
    assert timezone.now() - again.reserved_at < timedelta(minutes=1)


# Checks and practice


def test_every_practice_item_comes_first_and_takes_no_place(work: Work) -> None:
    campaign, seat = work(12, kinds=ItemKind.PRACTICE, attention_checks=True)

    queue = queue_of(seat)

    assert len(queue) == 12
    assert set(campaign.items.values_list("places", flat=True)) == {0}
    skip(seat, queue[0], "")
    assert set(campaign.items.values_list("places", flat=True)) == {0}


@pytest.mark.parametrize("start", range(8))
def test_a_check_stands_at_any_place_of_a_pack_but_the_first(work: Work, start: int) -> None:
    campaign, seat = work(16, attention_checks=True, check_percent=12)
    check = CampaignItem.objects.create(
        id=10_000_000 + start, campaign=campaign, kind=ItemKind.ATTENTION, position=-1,
        document=campaign.project.documents.first(), outputs=[1],
    )  # fmt: skip

    queue = queue_of(seat)

    kinds = [Assignment.objects.get(pk=pk).item_id == check.pk for pk in queue]
    assert (len(queue), kinds.index(True)) == (9, 1 + start)
    assert sum(kinds) == 1


def test_without_checks_none_are_asked_for(work: Work) -> None:
    campaign, seat = work(8, check_percent=50)
    CampaignItem.objects.create(
        campaign=campaign, kind=ItemKind.GOLD, position=-1, outputs=[1],
        document=campaign.project.documents.first(),
    )  # fmt: skip

    assert len(queue_of(seat)) == 8


# How long


def test_an_item_is_leased_for_the_minutes_of_its_campaign(work: Work) -> None:
    _campaign, seat = work(1, lease_minutes=10)

    assert lease_left(queue_of(seat)[0]) == 600


@pytest.mark.parametrize(("left", "expected"), [(449, 600), (450, 450), (451, 451)])
def test_a_lease_that_has_used_a_quarter_of_its_time_is_renewed(
    work: Work, left: float, expected: float
) -> None:
    _campaign, seat = work(1, lease_minutes=10)
    (only,) = queue_of(seat)
    let_lease_have(left)

    assert queue_of(seat) == [only]
    assert lease_left(only) == expected


def test_one_old_lease_renews_all_of_them(work: Work) -> None:
    _campaign, seat = work(3, lease_minutes=10)
    first, *others = queue_of(seat)
    let_lease_have(0, pk=first)

    assert queue_of(seat) == [first, *others]
    assert [lease_left(pk) for pk in (first, *others)] == [600] * 3


def test_released_items_are_counted_and_their_places_come_back(
    work: Work, annotators: list[User]
) -> None:
    campaign, seat = work(3, overlap=1)
    first, second, _third = queue_of(seat)
    finish(second)

    assert release_expired(campaign.pk) == 0
    let_lease_have(-1, pk=first)
    assert release_expired(campaign.pk) == 1
    assert Assignment.objects.get(pk=second).state == "submitted"
    assert campaign.items.filter(places=1).count() == 1


def test_what_expired_is_given_to_who_asks_next(
    work: Work, seat_of: Callable[..., Seat], annotators: list[User]
) -> None:
    campaign, seat = work(1, overlap=1)
    other = seat_of(campaign, annotators[1])
    queue_of(seat)
    assert queue_of(other) == []
    assert idle_reason(other) == IdleReason.OTHERS_HOLD
    assert idle_reason(seat) == IdleReason.FINISHED
    let_lease_have(-1)

    assert len(queue_of(other)) == 1


# Skipping


def test_an_item_whose_lease_expired_gives_no_second_place_when_it_is_skipped(work: Work) -> None:
    campaign, seat = work(1, overlap=1)
    (only,) = queue_of(seat)
    let_lease_have(-1)
    release_expired(campaign.pk)

    skip(seat, only, "")

    assert campaign.items.get().places == 1
    assert Assignment.objects.get().state == "skipped"


def test_a_submitted_item_cannot_be_skipped(work: Work) -> None:
    _campaign, seat = work(1)
    (only,) = queue_of(seat)
    finish(only)

    with pytest.raises(AnnotationError, match="already submitted") as refused:
        skip(seat, only, "")
    assert refused.value.keeps_place


def test_a_skipped_item_can_be_answered_after_all_while_it_has_a_place(
    work: Work, ratings_for: Callable[..., dict[str, str]]
) -> None:
    campaign, seat = work(2, overlap=1, lease_minutes=10)
    first, second = queue_of(seat)
    skip(seat, first, "")
    skip(seat, second, "")
    campaign.items.filter(assignments=second).update(places=0)
    fields = ratings_for(campaign)

    def answer(pk: int) -> Assignment:
        return submit(seat, pk, fields, user=seat.annotator.user, version=0, seconds=1).assignment

    done = answer(first)
    with pytest.raises(AnnotationError, match="others have answered it") as refused:
        answer(second)

    assert done.state == "submitted"
    assert lease_left(first) == pytest.approx(600, abs=20)
    assert campaign.items.get(assignments=first).places == 0
    assert not refused.value.keeps_place


# Who may


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"state": CampaignState.DRAFT}, "has not been opened yet"),
        ({"state": CampaignState.CLOSED}, "is closed"),
        ({"deadline": timezone.now() - timedelta(seconds=1)}, "deadline"),
    ],
)
def test_nothing_is_handed_out_where_the_campaign_is_not_open(
    work: Work, fields: dict[str, Any], message: str
) -> None:
    _campaign, seat = work(1)
    for name, value in fields.items():
        setattr(seat.campaign, name, value)

    with pytest.raises(AnnotationError, match=message) as refused:
        queue_of(seat)
    assert not refused.value.keeps_place


def test_until_the_deadline_a_campaign_is_open(work: Work) -> None:
    campaign, _seat = work(1, deadline=timezone.now() + timedelta(minutes=5))

    refuse_if_not_open(campaign)
    assert campaign.deadline


def test_only_ones_own_assignment_of_the_campaign_is_taken(
    work: Work, seat_of: Callable[..., Seat], annotators: list[User]
) -> None:
    campaign, seat = work(1)
    other_campaign, other_seat = work(1)
    (mine,), (elsewhere,) = queue_of(seat), queue_of(other_seat)

    assert locked_assignment(seat, mine).pk == mine
    for who, pk in (
        (seat, elsewhere),
        (seat_of(campaign, annotators[1]), mine),
        (seat, max(mine, elsewhere) + 1),
    ):
        with pytest.raises(AnnotationError, match="not assigned to you") as refused:
            locked_assignment(who, pk)
        assert not refused.value.keeps_place
    Seat.objects.filter(pk=seat.pk).update(removed_at=timezone.now())
    with pytest.raises(AnnotationError, match="no longer an annotator") as removed:
        locked_assignment(seat, mine)
    assert not removed.value.keeps_place
    assert other_campaign.pk != campaign.pk


# Drafts, and going back


def test_a_newer_draft_is_kept_with_its_time_and_an_equal_one_is_not(
    work: Work, seat_of: Callable[..., Seat], annotators: list[User]
) -> None:
    campaign, seat = work(1)
    (only,) = queue_of(seat)
    Assignment.objects.update(reserved_at=timezone.now() - timedelta(minutes=1))

    def kept(number: int, seconds: float | None, of: Seat = seat) -> bool:
        return keep_draft(of, only, number=number, draft={"n": str(number)}, seconds=seconds)

    assert [kept(5, 3.0), kept(5, 9.0), kept(4, 9.0), kept(6, None)] == [True, False, False, True]
    assert not kept(7, 9.0, of=seat_of(campaign, annotators[1]))
    draft = Assignment.objects.get()
    assert (draft.draft, draft.draft_number, draft.seconds) == ({"n": "6"}, 6, 3.0)
