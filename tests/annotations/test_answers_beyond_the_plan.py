"""An item with more answers than planned is given to nobody until one place is really free."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from annotations.answering.submission import submit
from annotations.models import Assignment, Campaign, CampaignItem, Seat
from annotations.planning.assignment import queue_of, release_expired, skip
from annotations.planning.campaigns import raise_overlap
from annotations.results.reviewing import reject, restore
from evaluations.projects.archive.read import read_archive
from evaluations.projects.archive.write import write_archive

pytestmark = pytest.mark.django_db


class Crowd:
    """A campaign with an overlap of one, of whose items one is followed; `first` has answered it,
    was rejected, and counts again after `second` has got it, too."""

    def __init__(
        self,
        campaign: Campaign,
        users: list[User],
        seat_of: Callable[..., Seat],
        ratings_for: Callable[..., dict[str, str]],
        owner: User,
    ) -> None:
        self.campaign, self.users, self.owner = campaign, users, owner
        self.seat_of, self.ratings_for = seat_of, ratings_for
        self.first = queue_of(seat_of(campaign, users[0]))[0]
        self.item = Assignment.objects.get(pk=self.first).item_id
        self.answer(0, self.first)
        reject(self.first, user=owner, reason="Guessed.")
        self.second = self.reserved_by(1)

    def answer(self, user: int, assignment: int) -> None:
        seat = self.seat_of(self.campaign, self.users[user])
        fields = self.ratings_for(self.campaign)
        submit(seat, assignment, fields, user=self.users[user], version=0, seconds=4)

    def reserved_by(self, user: int) -> int:
        """The assignment of the item to a person who now gets it."""
        seat = self.seat_of(self.campaign, self.users[user])
        while True:
            waiting = queue_of(seat)
            mine = Assignment.objects.filter(pk__in=waiting, item=self.item).first()
            if mine:
                return mine.pk
            for pk in waiting:
                self.answer(user, pk)

    def restore(self) -> None:
        restore(self.first, user=self.owner)

    @property
    def places(self) -> int:
        return CampaignItem.objects.get(pk=self.item).places


@pytest.fixture
def crowd(
    make_campaign: Callable[..., Campaign],
    annotators: list[User],
    seat_of: Callable[..., Seat],
    ratings_for: Callable[..., dict[str, str]],
    make_user: Callable[..., User],
) -> Crowd:
    campaign = make_campaign(overlap=1)
    return Crowd(campaign, annotators, seat_of, ratings_for, make_user("olga"))


def test_a_place_is_free_once_no_answer_counts(crowd: Crowd) -> None:
    crowd.answer(1, crowd.second)
    crowd.restore()

    reject(crowd.first, user=crowd.owner, reason="Guessed after all.")
    assert crowd.places == 0

    reject(crowd.second, user=crowd.owner, reason="Guessed, too.")
    assert crowd.places == 1


def test_an_item_that_is_skipped_is_not_free_where_an_answer_counts(crowd: Crowd) -> None:
    crowd.restore()

    skip(crowd.seat_of(crowd.campaign, crowd.users[1]), crowd.second, "unclear")

    assert crowd.places == 0


def test_an_item_whose_time_expired_is_not_free_where_an_answer_counts(crowd: Crowd) -> None:
    crowd.restore()
    past = timezone.now() - timedelta(minutes=1)
    Assignment.objects.filter(pk=crowd.second).update(lease_until=past)

    assert release_expired(crowd.campaign.pk) == 1

    assert crowd.places == 0


@pytest.mark.parametrize(("overlap", "places"), [(2, 0), (3, 1)])
def test_more_annotators_an_item_take_in_those_it_had_beyond_the_plan(
    crowd: Crowd, overlap: int, places: int
) -> None:
    crowd.answer(1, crowd.second)
    crowd.restore()

    raise_overlap(crowd.campaign, overlap)

    assert crowd.places == places
    others = CampaignItem.objects.filter(campaign=crowd.campaign).exclude(pk=crowd.item)
    held = Assignment.objects.filter(item__in=others, state__in=("reserved", "submitted")).count()
    assert sum(others.values_list("places", flat=True)) == overlap * others.count() - held


def test_a_copy_has_no_place_free_where_an_answer_counts(crowd: Crowd, tmp_path: Path) -> None:
    crowd.restore()
    write_archive(crowd.campaign.project, tmp_path / "project.zip")

    copy = read_archive(tmp_path / "project.zip", slug="copy")

    items = CampaignItem.objects.filter(campaign__project=copy).order_by("position")
    followed = CampaignItem.objects.get(pk=crowd.item).position
    assert items.get(position=followed).places == 0
    counting = Assignment.objects.filter(campaign=crowd.campaign, state="submitted")
    answered = counting.values("item").distinct().count()
    assert sum(items.values_list("places", flat=True)) == items.count() - answered
