"""A member gets an even share of a campaign's items, and more on request; a cap is firm."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from annotations.answering.progress import task_progress
from annotations.answering.task_page import own_assignment
from annotations.models import Annotator, Assignment, Campaign, ItemOrder, Seat
from annotations.planning.assignment import IdleReason, idle_reason, queue_of, take_more
from annotations.planning.waiting import most_items
from evaluations.models import AuditEntry, sizes

pytestmark = pytest.mark.django_db
SeatOf = Callable[[Campaign, User], Seat]
Make = Callable[..., Campaign]


@pytest.fixture
def make(make_campaign: Callable[..., Campaign], annotators: list[User]) -> Make:
    """An open campaign with shares: so many items, members and annotators per item."""

    def make(items: int, *, members: int, overlap: int, **fields: object) -> Campaign:
        sizes.forget()
        users = annotators[:members]
        campaign = make_campaign(
            users=users, has_shares=True, overlap=overlap, **{"order": ItemOrder.RANDOM} | fields
        )
        campaign.items.filter(position__gte=items).delete()
        return campaign

    return make


def work(seat: Seat) -> int:
    """Submit all that a seat gets; return how many."""
    done = 0
    while queue := queue_of(seat):
        done += Assignment.objects.filter(pk__in=queue).update(
            state="submitted", submitted_at=timezone.now(), answer={}
        )
    return done


@pytest.mark.parametrize(
    ("items", "members", "overlap", "most"),
    [
        (5, 2, 1, 3),
        (6, 3, 1, 2),
        (5, 3, 1, 2),
        (6, 3, 2, 4),
        (5, 3, 2, 4),
        (6, 2, 1, 3),
        # All of them is no share.
        (2, 3, 2, None),
        (6, 2, 2, None),
        (6, 1, 1, None),
    ],
)
def test_an_even_share_is_rounded_up(
    make: Make, annotators: list[User], seat_of: SeatOf, items: int, members: int, overlap: int,
    most: int | None,
) -> None:  # fmt: skip
    campaign = make(items, members=members, overlap=overlap)

    assert most_items(seat_of(campaign, annotators[0])) == most


@pytest.mark.parametrize("order", [ItemOrder.RANDOM, ItemOrder.DOCUMENT])
def test_two_members_share_five_items(
    make: Make, annotators: list[User], seat_of: SeatOf, order: ItemOrder
) -> None:
    campaign = make(5, members=2, overlap=1, order=order)
    first, second = (seat_of(campaign, user) for user in annotators[:2])

    done = work(first)
    waits = idle_reason(first)
    rest = work(second)

    assert (done, waits, rest) == (3, IdleReason.SHARE_DONE, 2)
    assert idle_reason(first) == idle_reason(second) == IdleReason.FINISHED


@pytest.mark.parametrize(
    ("held", "left"), [(2, 1), (3, 0)], ids=["just below the share", "at the share"]
)
def test_items_stop_at_the_share(
    make: Make, annotators: list[User], seat_of: SeatOf, held: int, left: int
) -> None:
    campaign = make(6, members=2, overlap=1)
    seat = seat_of(campaign, annotators[0])
    kept = queue_of(seat)[:held]
    Assignment.objects.filter(pk__in=kept).update(state="submitted", answer={})
    Assignment.objects.exclude(pk__in=kept).delete()
    campaign.items.exclude(assignments__in=kept).update(places=1)

    assert work(seat) == left


def test_more_than_the_share_is_kept_if_somebody_joins(
    make: Make, annotators: list[User], seat_of: SeatOf
) -> None:
    campaign = make(6, members=2, overlap=1)
    seat = seat_of(campaign, annotators[0])
    done = work(seat)
    third = Annotator.objects.create(project=campaign.project, name="third")
    Seat.objects.create(campaign=campaign, annotator=third)

    assert (done, most_items(seat)) == (3, 2)
    assert (work(seat), idle_reason(seat)) == (0, IdleReason.SHARE_DONE)


def test_a_removed_member_leaves_a_larger_share(
    make: Make, annotators: list[User], seat_of: SeatOf
) -> None:
    campaign = make(5, members=3, overlap=1)
    seat = seat_of(campaign, annotators[0])
    before = work(seat)

    campaign.seats.filter(annotator__user=annotators[1]).update(removed_at=timezone.now())

    assert (before, work(seat)) == (2, 1)


def test_people_of_an_open_link_do_not_reduce_the_share(
    make: Make, annotators: list[User], seat_of: SeatOf
) -> None:
    campaign = make(5, members=3, overlap=1)
    campaign.seats.filter(annotator__user=annotators[1]).update(most_items=4)

    assert most_items(seat_of(campaign, annotators[0])) == 3
    assert most_items(seat_of(campaign, annotators[1])) == 4


def test_a_member_takes_more_on_the_page(
    make: Make, annotators: list[User], seat_of: SeatOf, client: Client
) -> None:
    campaign = make(5, members=2, overlap=1)
    seat = seat_of(campaign, annotators[0])
    work(seat)
    client.force_login(annotators[0])
    base = f"/p/small/annotate/{campaign.pk}/task/"

    page = client.get(base).content.decode()
    response = client.post(f"{base}more/")

    assert "3 of 3" in page
    assert f'action="{base}more/"' in page
    assert response["Location"] == base
    assert "data-assignment" in client.get(base).content.decode()
    seat.refresh_from_db()
    assert work(seat) == 2
    assert idle_reason(seat) == IdleReason.FINISHED
    assert AuditEntry.objects.get().action == "annotations:task_more"


@pytest.mark.parametrize(("cap", "done"), [(1, 1), (3, 3), (4, 4), (5, 4)])
def test_a_cap_takes_the_place_of_the_share(
    make: Make, annotators: list[User], seat_of: SeatOf, cap: int, done: int
) -> None:
    """Of four items for two members; nobody takes more than the cap."""
    campaign = make(4, members=2, overlap=1, most_each=cap)
    seat = seat_of(campaign, annotators[0])

    assert task_progress(seat, _first(seat)).total == done
    assert work(seat) == done
    take_more(seat)
    assert (work(seat), idle_reason(seat)) == (0, IdleReason.FINISHED)


def _first(seat: Seat) -> Assignment:
    first = own_assignment(seat, queue_of(seat)[0])
    assert first
    return first
