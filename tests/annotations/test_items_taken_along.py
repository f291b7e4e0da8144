"""Items for work without a connection: how many, and how long they are somebody's."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from annotations.models import Assignment, Campaign, Seat
from annotations.planning import assignment
from annotations.planning.assignment import ALONG_MINUTES, queue_of, reserve_for_offline

pytestmark = pytest.mark.django_db
MakeCampaign = Callable[..., Campaign]


@pytest.mark.parametrize("most", [1, 3, 100])
def test_as_many_as_that_are_theirs_for_as_long(
    make_campaign: MakeCampaign,
    annotators: list[User],
    seat_of: Callable[[Campaign, User], Seat],
    monkeypatch: pytest.MonkeyPatch,
    most: int,
) -> None:
    monkeypatch.setattr(assignment, "ALONG", most)
    seat = seat_of(make_campaign(overlap=3), annotators[0])

    queue, until = reserve_for_offline(seat)

    assert len(queue) == min(most, 6)
    assert set(Assignment.objects.filter(pk__in=queue).values_list("lease_until")) == {(until,)}
    assert until > timezone.now() + timedelta(minutes=ALONG_MINUTES - 1)
    assert queue_of(seat)[: len(queue)] == queue
    assert Assignment.objects.get(pk=queue[0]).lease_until == until


def test_the_browser_gets_pieces_and_its_worker(
    make_campaign: MakeCampaign, annotators: list[User]
) -> None:
    campaign, client = make_campaign(overlap=3), Client()
    base = f"/p/small/annotate/{campaign.pk}/task/"
    client.force_login(annotators[0])

    taken = client.post(f"{base}along/", HTTP_ACCEPT="application/json")
    worker = client.get(f"{base}worker.js")
    client.logout()

    assert len(taken.json()["pieces"]) == 6
    assert all("data-assignment" in piece for piece in taken.json()["pieces"])
    assert worker["Content-Type"] == "text/javascript"
    assert client.post(f"{base}along/").status_code == 302
