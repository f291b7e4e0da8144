"""Items go to as many annotators as planned and never twice to one, whoever works at the same time
or vanishes."""

from collections import Counter
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from annotations.answering.submission import submit
from annotations.errors import AnnotationError
from annotations.models import Assignment, Campaign, ItemOrder, Seat
from annotations.planning.assignment import queue_of, skip
from annotations.planning.campaigns import seat_annotators

pytestmark = pytest.mark.django_db


def work_off(seat: Seat, fields: dict[str, str], user: User, *, most: int = 10_000) -> int:
    """Submit the same answer to everything in the queue; returns how many."""
    done = 0
    while done < most and (queue := queue_of(seat)):
        submit(seat, queue[0], fields, user=user, version=0, seconds=5.0)
        done += 1
    return done


@pytest.mark.parametrize("order", ItemOrder.values)
def test_every_item_gets_exactly_the_overlap(
    order: str,
    make_campaign: Callable[..., Campaign],
    annotators: list[User],
    seat_of: Callable[..., Seat],
    ratings_for: Callable[..., dict[str, str]],
) -> None:
    campaign = make_campaign(order=order)

    done = [work_off(seat_of(campaign, user), ratings_for(campaign), user) for user in annotators]

    given = Counter(Assignment.objects.filter(state="submitted").values_list("item", flat=True))
    assert sum(done) == 12
    assert set(given.values()) == {2}
    assert len(given) == 6
    assert not campaign.items.filter(places__gt=0).exists()


def test_a_lease_that_ran_out_goes_to_somebody_else(
    make_campaign: Callable[..., Campaign],
    annotators: list[User],
    seat_of: Callable[..., Seat],
    ratings_for: Callable[..., dict[str, str]],
) -> None:
    campaign = make_campaign(overlap=1)
    queue_of(seat_of(campaign, annotators[0]))
    queue_of(seat_of(campaign, annotators[0]))
    Assignment.objects.update(lease_until=timezone.now() - timedelta(hours=1))

    done = work_off(seat_of(campaign, annotators[1]), ratings_for(campaign), annotators[1])

    assert done == 6
    assert Assignment.objects.filter(annotator__user=annotators[0], state="expired").exists()


def test_what_was_skipped_goes_to_others_and_not_back(
    make_campaign: Callable[..., Campaign], annotators: list[User], seat_of: Callable[..., Seat]
) -> None:
    campaign = make_campaign(overlap=1, users=annotators[:2])
    seat = seat_of(campaign, annotators[0])
    first = queue_of(seat)[0]

    skip(seat, first, "The text is broken")

    skipped = Assignment.objects.get(pk=first)
    assert skipped.skip_reason == "The text is broken"
    assert first not in queue_of(seat)
    assert campaign.items.get(pk=skipped.item_id).places == 1


def test_who_is_taken_out_gets_nothing_and_gives_back_what_they_hold(
    make_campaign: Callable[..., Campaign],
    annotators: list[User],
    seat_of: Callable[..., Seat],
    ratings_for: Callable[..., dict[str, str]],
) -> None:
    campaign = make_campaign(overlap=1)
    held = queue_of(seat_of(campaign, annotators[0]))[0]
    seat = seat_of(campaign, annotators[0])

    seat_annotators(campaign, annotators[1:])
    with pytest.raises(AnnotationError, match="no longer an annotator"):
        submit(seat, held, ratings_for(campaign), user=annotators[0], version=0, seconds=None)
    assert campaign.items.filter(places=1).count() == 6
