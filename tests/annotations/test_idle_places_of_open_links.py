"""Places of people who answer nothing: they end when nobody is there, are few per address without a
panel's id, and what is stored of people who only agreed goes after a day."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from annotations.models import Annotator, Assignment, OpenLink, Participant, Seat
from annotations.open_links.places import end_all_overdue, remove_who_only_agreed
from tests.annotations.test_open_links import ASSIGNMENT, Person, link, page

__all__ = ["link"]
pytestmark = pytest.mark.django_db
NO_ID = ""


def pass_time(minutes: float, **people: Any) -> None:
    """So much time goes by for these people."""
    for person in Participant.objects.filter(**people):
        gone = timedelta(minutes=minutes)
        person.consented_at -= gone
        if person.started_at and person.until:
            person.started_at -= gone
            person.until -= gone
        person.save()


def states() -> dict[str | None, str]:
    return dict(Participant.objects.values_list("external_id", "state"))


def free_places(link: OpenLink) -> int:
    return sum(link.campaign.items.values_list("places", flat=True))


def test_a_place_without_an_answer_ends_after_five_idle_minutes(link: OpenLink) -> None:
    OpenLink.objects.update(people=1)
    idle = Person("idle").begin()
    idle.client.get("/c/ferries/task/")

    pass_time(4.9)
    before = Person("next").arrive().status_code
    pass_time(0.2)
    Person("next").begin()

    assert before == 403
    assert states() == {"idle": "consented", "next": "active"}
    assert not Assignment.objects.filter(state="reserved", annotator__participant=1).exists()
    end_all_overdue()
    assert free_places(link) == 12 - Assignment.objects.filter(state="reserved").count()


def test_opening_an_item_is_not_idle(link: OpenLink) -> None:
    slow = Person("slow").begin()

    for _ in range(3):
        pass_time(4)
        slow.client.get("/c/ferries/task/")
        end_all_overdue()

    assert states() == {"slow": "active"}


def test_an_answer_keeps_the_place_until_the_time_limit(link: OpenLink) -> None:
    person = Person("p1").begin()
    person.rate()

    pass_time(29)
    end_all_overdue()
    before = states()
    pass_time(2)
    end_all_overdue()

    assert (before, states()) == ({"p1": "active"}, {"p1": "timed_out"})


def test_an_answer_that_no_other_request_follows_keeps_the_place(link: OpenLink) -> None:
    person = Person("p1").begin()
    person.rate()
    soon = timezone.now() + timedelta(minutes=1)
    Participant.objects.update(until=soon)

    pass_time(2)
    end_all_overdue()

    assert states() == {"p1": "active"}
    assert Participant.objects.get().until > soon


def test_nobody_keeps_a_place_beyond_the_time_limit_by_asking(link: OpenLink) -> None:
    person = Person("p1").begin()
    for _ in range(8):
        person.client.get("/c/ferries/task/")
        pass_time(4)

    end_all_overdue()

    assert states() == {"p1": "timed_out"}


def test_whoever_was_idle_may_begin_again(link: OpenLink) -> None:
    person = Person("p1").begin()
    shown = ASSIGNMENT.search(page(person.client.get("/c/ferries/task/")))
    assert shown
    pass_time(6)

    accept = {"Accept": "application/json"}
    path = f"/c/ferries/task/{shown[1]}/submit/"
    refused = person.client.post(path, {"score-1": "3"}, headers=accept)
    again = page(person.arrive())
    person.start()

    assert refused.status_code == 403
    assert "Instructions" in again
    assert person.rate()
    assert states() == {"p1": "active"}
    assert Seat.objects.count() == 1


def test_few_places_are_open_at_an_address_without_ids(link: OpenLink) -> None:
    OpenLink.objects.update(people=9)
    codes = [Person(query=NO_ID).begin() for _ in range(4)]
    elsewhere = Person(query=NO_ID)
    elsewhere.client = Client(REMOTE_ADDR="10.0.0.9")
    elsewhere.begin()
    Person("p1").begin()

    held = [person.rate() for person in codes]

    assert held == [True, True, True, False]
    assert Participant.objects.filter(state="active").count() == 5
    assert codes[3].start().status_code == 403
    codes[0].client.post("/c/ferries/leave")
    assert "data-assignment" in page(codes[3].start())


def test_an_address_is_kept_as_a_digest_while_a_place_is_held(link: OpenLink) -> None:
    person = Person(query=NO_ID).begin()
    held = Participant.objects.get().origin
    person.client.post("/c/ferries/leave")

    assert len(held) == 40
    assert Participant.objects.get().origin == ""
    Person("p1").begin()
    assert Participant.objects.get(external_id="p1").origin == ""


def test_people_who_only_agreed_are_removed_after_a_day(link: OpenLink) -> None:
    Person("agreed").agree()
    Person("idle").begin().client.get("/c/ferries/task/")
    Person("works").begin().rate()
    pass_time(6, external_id="idle")
    end_all_overdue()

    pass_time(23 * 60)
    remove_who_only_agreed()
    before = set(states())
    pass_time(61)
    remove_who_only_agreed()

    assert before == {"agreed", "idle", "works"}
    assert set(states()) == {"works"}
    assert Annotator.objects.filter(name__startswith="participant").count() == 1
    assert Assignment.objects.exclude(annotator__participant__external_id="works").count() == 0
