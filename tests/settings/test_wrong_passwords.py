"""What wrong passwords leave behind, how long they lock a name, and how many an address may try."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from axes.models import AccessAttempt, AccessLog
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.db.models import F
from django.test import Client
from django.utils import timezone

from evaluations.management import upkeep
from evaluations.web.gate import refusals

pytestmark = pytest.mark.django_db
MakeUser = Callable[..., User]
TOKEN = "AUrLpYutdikl5eNuJB78gevgv"


@pytest.fixture(autouse=True)
def _forgotten() -> Iterator[None]:
    refusals.forget_shares()
    yield
    refusals.forget_shares()


@pytest.fixture
def kim(make_user: MakeUser, settings: Any) -> User:
    settings.AXES_FAILURE_LIMIT = 3
    user = make_user("kim")
    user.set_password("right")
    user.save()
    return user


def sign_in(name: str, password: str, *, at: str = "/sign-in/", **more: str) -> int:
    fields = {"username": name, "password": password} | more
    return Client().post(at, fields).status_code


def do(job: str) -> None:
    upkeep.do_if_due(next(one for one in upkeep.JOBS if one.name == job))


def test_nothing_that_was_sent_with_a_wrong_password_is_stored(kim: User) -> None:
    for _ in range(5):
        sign_in("kim", "wrong", at=f"/sign-in/?next=/invitation/{TOKEN}/", next=f"/i/{TOKEN}/")

    stored = AccessAttempt.objects.values_list("get_data", "post_data")
    assert list(stored) == [("", "")]


def test_a_lockout_ends_although_somebody_goes_on_trying(kim: User) -> None:
    for _ in range(3):
        sign_in("kim", "wrong")
    AccessAttempt.objects.update(attempt_time=F("attempt_time") - timedelta(minutes=14))
    assert sign_in("kim", "wrong") == 429
    assert sign_in("kim", "right") == 429

    AccessAttempt.objects.update(attempt_time=F("attempt_time") - timedelta(minutes=2))

    assert sign_in("kim", "right") == 302


def test_sign_ins_are_not_listed_with_their_addresses(kim: User) -> None:
    assert sign_in("kim", "right") == 302

    assert not AccessLog.objects.exists()


@pytest.mark.parametrize("page", ["/sign-in/", "/admin/login/", "/password/forgotten/"])
def test_an_address_that_tries_many_names_is_asked_to_wait(
    page: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(refusals, "ATTEMPT_RATE", "60/d")  # a minute may end meanwhile
    answers = [
        Client().post(page, {"username": f"name {number}", "password": "p", "email": "none"})
        for number in range(61)
    ]

    assert {answer.status_code for answer in answers[:60]} == {200}
    assert answers[60].status_code == 429
    assert "60/d attempts from one address" in answers[60].content.decode()
    elsewhere = Client(REMOTE_ADDR="203.0.113.9")
    assert elsewhere.post(page, {"username": "n", "password": "p"}).status_code == 200
    assert Client().get(page).status_code == 200


def test_counts_and_sessions_that_have_ended_are_removed(kim: User) -> None:
    sign_in("kim", "wrong")
    sign_in("lee", "wrong")
    long_ago = timezone.now() - timedelta(hours=1)
    AccessAttempt.objects.filter(username="lee").update(attempt_time=long_ago)
    Client().force_login(kim)
    Client().force_login(kim)
    ended = Session.objects.first()
    assert ended is not None
    Session.objects.filter(pk=ended.pk).update(expire_date=long_ago)

    do("counts of requests")
    do("ended sessions")

    assert list(AccessAttempt.objects.values_list("username", flat=True)) == ["kim"]
    assert Session.objects.count() == 1
