"""“10 of 72 · about 14 min left”: what is done, what is left for this annotator, and how long."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User

from annotations.answering.progress import task_progress
from annotations.answering.task_page import own_assignment
from annotations.models import Assignment, AssignmentState, Campaign, Seat
from annotations.planning.assignment import queue_of
from evaluations.models import CandidateOutput, Project, sizes

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


def test_items_that_were_loaded_ahead_count_from_where_they_will_be_shown(
    make_campaign: MakeCampaign, annotators: list[User], seat_of: SeatOf
) -> None:
    seat = seat_of(make_campaign(overlap=3), annotators[0])
    queue = queue_of(seat)

    shown = [task_progress(seat, now(seat, at)).done for at in range(len(queue))]

    assert shown == list(range(len(queue)))


def test_practice_is_counted_by_itself(
    make_campaign: MakeCampaign, annotators: list[User], seat_of: SeatOf, small_project: Project
) -> None:
    criteria = small_project.criteria.values_list("pk", flat=True)
    gold = [
        {
            "document": output.document_id, "outputs": [output.pk],
            "expected": {"scores": {str(pk): 3 for pk in criteria}},
        }
        for output in CandidateOutput.objects.filter(document__project=small_project)[:2]
    ]  # fmt: skip
    seat = seat_of(make_campaign(overlap=3, gold=gold, practice_items=2), annotators[0])

    shown = []
    for _ in range(3):
        progress = task_progress(seat, now(seat))
        shown.append((progress.done, progress.total))
        finish(seat, 1, seconds=60)

    assert shown == [(0, 2), (1, 2), (0, 4)]
