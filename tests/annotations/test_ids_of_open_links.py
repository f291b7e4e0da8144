"""Ids are no secrets: they bring people back to unfinished work, and nobody to a code."""

import re
from typing import Any

import pytest
from django.conf import settings
from django.test import Client

from annotations.models import OpenLink, Participant
from tests.annotations.test_open_links import Person, link, page

__all__ = ["link"]
pytestmark = pytest.mark.django_db
NO_ID = ""


def shown(response: Any, *, without: str = "") -> tuple[int, str]:
    """The status and the page, without ids and the token that differs in each response."""
    return response.status_code, re.sub(rf"\b(\w{{64}}|{without})\b", "", page(response))


def done(person: Person) -> Person:
    person.begin()
    while person.rate():
        pass
    person.finish()
    return person


def test_the_code_shows_only_in_the_browser_that_finished(link: OpenLink) -> None:
    person = Person("p1").begin()
    person.rate()
    thief = Person("p1")
    thief.arrive()
    person.rate()
    person.finish()

    stolen = page(thief.client.get("/c/ferries/end"))
    again = page(Person("p1").agree())

    assert "DONE1" in page(person.arrive())
    for text in (stolen, again):
        assert "DONE1" not in text
        assert "panel.example" not in text
    assert "only in the browser" in stolen


def test_a_finish_button_pressed_twice_shows_the_code(link: OpenLink) -> None:
    person = Person("p1").begin()
    while person.rate():
        pass
    person.client.get("/c/ferries/finish")
    # The browser drops the first response, and with it that response's cookies.
    other = Client()
    other.cookies["participant"] = person.client.cookies["participant"].value
    other.post("/c/ferries/finish")

    assert "DONE1" in page(person.finish())


def test_unknown_banned_and_finished_people_look_alike(link: OpenLink) -> None:
    done(Person("p1"))
    OpenLink.objects.update(banned=["p2"])

    people = [Person(name) for name in ("p1", "p2", "p3")]
    arrived = {shown(person.arrive(), without="p[123]") for person in people}
    refused = {shown(person.agree(), without="p[123]") for person in people[:2]}

    assert [status for status, _ in arrived] == [200]
    assert [status for status, _ in refused] == [403]


@pytest.mark.parametrize("code", ["p1", "p2", "unknown1"])
def test_a_typed_code_says_nothing_of_a_panels_id(link: OpenLink, code: str) -> None:
    Person("p1").begin()
    OpenLink.objects.update(banned=["p2"])

    typed = Client().post("/c/ferries", {"code": code})

    assert shown(typed) == shown(Client().post("/c/ferries", {"code": "other"}))
    assert typed.status_code == 403
    assert Participant.objects.count() == 1


def test_the_same_id_of_another_panel_is_another_person(link: OpenLink) -> None:
    Person("p1").begin()
    Person("p1", query="?workerId={}").begin()

    assert set(Participant.objects.values_list("source", "external_id")) == {
        ("prolific", "p1"),
        ("mturk", "p1"),
    }


def test_the_site_makes_codes_of_eight_characters(link: OpenLink) -> None:
    first, second = Person(query=NO_ID), Person(query=NO_ID)

    instructions = page(first.agree())
    second.agree()

    codes = list(Participant.objects.values_list("external_id", flat=True))
    assert len(set(codes)) == 2
    for code in codes:
        assert code
        assert re.fullmatch("[a-z2-9]{8}", code)
    assert f">{codes[0]}</code>" in instructions


def test_a_code_of_the_site_opens_the_place_on_another_device(link: OpenLink) -> None:
    first = Person(query=NO_ID).begin()
    first.rate()
    code = Participant.objects.get().external_id

    other = Client()
    assert 'name="code"' in page(other.get("/c/ferries"))
    back = page(other.post("/c/ferries", {"code": code}, follow=True))

    assert "data-assignment" in back
    assert "1 of 2" in " ".join(back.split())


def test_twenty_unknown_ids_an_hour_come_from_an_address(link: OpenLink) -> None:
    Person("known").begin()
    most = settings.UNKNOWN_IDS_PER_HOUR - 1  # one was "known", before it began
    statuses = [Person(f"x{number}").arrive().status_code for number in range(most)]
    same = Person("x3").arrive().status_code

    more = [Person(name).arrive() for name in ("y1", "y1", "known")]

    assert most == 19
    assert {*statuses, same} == {200}
    assert [response.status_code for response in more] == [403, 403, 403]
    elsewhere = Person("y1")
    elsewhere.client = Client(REMOTE_ADDR="10.0.0.9")
    assert elsewhere.arrive().status_code == 200


def test_the_limit_stops_nobody_in_their_own_browser(link: OpenLink) -> None:
    person = Person("known").begin()
    for number in range(settings.UNKNOWN_IDS_PER_HOUR + 1):
        Person(f"x{number}").arrive()

    assert "data-assignment" in page(person.arrive())
    assert person.rate()


def test_twenty_people_without_an_id_begin_in_an_hour_at_an_address(link: OpenLink) -> None:
    OpenLink.objects.update(
        amount_screened=1,
        before=[{"text": "?", "kind": "choice", "options": ["yes", "no"], "quotas": {"no": 0}}],
    )
    most = settings.UNKNOWN_IDS_PER_HOUR
    people = [Person(query=NO_ID).begin(q0="no") for _ in range(most + 2)]

    states = [*Participant.objects.values_list("state", flat=True)]
    assert states == ["screened"] * most
    assert people[-1].agree().status_code == 403
    OpenLink.objects.update(per_address=most + 9)
    assert people[-1].agree().status_code == 200


def test_typed_codes_count_as_unknown_ids(link: OpenLink) -> None:
    for number in range(settings.UNKNOWN_IDS_PER_HOUR + 1):
        Client().post("/c/ferries", {"code": f"guess{number}"})

    assert Person("p1").arrive().status_code == 403
