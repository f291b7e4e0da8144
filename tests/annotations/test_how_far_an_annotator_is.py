"""“10 of 72 · about 14 min left”: what is done, what is left for this annotator, and how long."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User

from annotations.answering.progress import task_progress
from annotations.answering.task_page import own_assignment
from annotations.models import Assignment, AssignmentState, Campaign, Seat
from annotations.planning.assignment import queue_of
from evaluations.models import sizes

pytestmark = pytest.mark.django_db
MakeCampaign = Callable[..., Campaign]
SeatOf = Callable[[Campaign, User], Seat]


@pytest.fixture(autouse=True)
def fresh() -> None:
    sizes.forget()


def now(seat: Seat, which: int = 0) -> Assignment:
    found = own_assignment(seat, queue_of(seat)[which])
    assert found
    return found


def finish(seat: Seat, items: int, seconds: float) -> None:
    for _ in range(items):
        Assignment.objects.filter(pk=queue_of(seat)[0]).update(
            state=AssignmentState.SUBMITTED, seconds=seconds
        )


def test_where_everybody_gets_every_item_all_are_left(
    make_campaign: MakeCampaign, annotators: list[User], seat_of: SeatOf
) -> None:
    campaign = make_campaign(overlap=3)
    seat = seat_of(campaign, annotators[0])

    begun = task_progress(seat, now(seat))
    finish(seat, 4, seconds=90)
    later = task_progress(seat, now(seat))

    assert (begun.done, begun.total, begun.time_left) == (0, 6, "")
    assert (later.done, later.total, later.time_left) == (4, 6, "about 3 min left")


def test_places_that_are_shared_are_divided(
    make_campaign: MakeCampaign, annotators: list[User], seat_of: SeatOf
) -> None:
    campaign = make_campaign(overlap=1)
    seat = seat_of(campaign, annotators[0])

    found = task_progress(seat, now(seat))

    assert found.total == 2


def test_the_total_does_not_move_while_others_answer(
    make_campaign: MakeCampaign, annotators: list[User], seat_of: SeatOf
) -> None:
    campaign = make_campaign(overlap=2)
    seat, other = seat_of(campaign, annotators[0]), seat_of(campaign, annotators[1])
    begun = task_progress(seat, now(seat)).total

    finish(other, 4, seconds=60)
    sizes.forget()

    assert task_progress(seat, now(seat)).total == begun
