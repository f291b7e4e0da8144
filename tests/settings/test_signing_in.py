"""Signing in tells nobody who has an account; the demo's passwords are worth nothing in
production."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.hashers import MD5PasswordHasher
from django.contrib.auth.models import User
from django.core import mail
from django.test import Client

from evaluations.management import tasks
from geval_site.checks import demo_accounts, proxies_are_counted
from geval_site.demo_logins import PASSWORDS

pytestmark = pytest.mark.django_db
MakeUser = Callable[..., User]
hashed: list[str] = []


class CountingHasher(MD5PasswordHasher):
    algorithm = "counting"

    def encode(self, password: str, salt: str) -> str:
        hashed.append(password)
        return super().encode(password, salt)


def sign_in(name: str, password: str) -> Any:
    return Client().post("/sign-in/", {"username": name, "password": password})


def test_an_unknown_name_costs_as_many_hashes_as_a_known_one(
    make_user: MakeUser, settings: Any
) -> None:
    settings.PASSWORD_HASHERS = [f"{__name__}.CountingHasher"]
    make_user("kim")
    make_user("gone", is_active=False)
    User.objects.create(username="by-openid", password="!unusable")
    counts = {}

    for name in ("kim", "gone", "by-openid", "nobody"):
        hashed.clear()
        assert sign_in(name, "wrong").status_code == 200
        counts[name] = len(hashed)

    assert counts == dict.fromkeys(counts, 1)


@pytest.mark.parametrize(("production", "status"), [(True, 200), (False, 302)])
@pytest.mark.parametrize("name", PASSWORDS)
def test_the_demos_passwords_let_nobody_into_a_production_site(
    make_user: MakeUser, settings: Any, production: bool, status: int, name: str
) -> None:
    settings.PRODUCTION = production
    user = make_user(name)
    user.set_password(PASSWORDS[name])
    user.save()

    assert sign_in(name, PASSWORDS[name]).status_code == status
    user.set_password("a password of one's own")
    user.save()
    assert sign_in(name, "a password of one's own").status_code == 302


def test_the_deployment_check_names_accounts_of_the_demo(make_user: MakeUser) -> None:
    make_user("ada")
    assert demo_accounts() == []
    user = User.objects.get()
    user.set_password("demo-ada")
    user.save()

    assert "are in this database: ada." in demo_accounts()[0].msg


def test_the_deployment_check_wants_proxies_counted(settings: Any) -> None:
    assert proxies_are_counted() == []
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    assert "GEVAL_PROXIES is 0" in proxies_are_counted()[0].msg
    settings.PROXIES = 1
    assert proxies_are_counted() == []


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What workers are asked to send."""
    wanted: list[dict[str, Any]] = []

    def send(_task: str, email: str, **more: Any) -> bool:
        wanted.append({"email": email} | more)
        return True

    monkeypatch.setattr("evaluations.people.waking.send", send)
    return wanted


def test_a_forgotten_password_is_the_same_work_for_any_address(
    make_user: MakeUser, sent: list[dict[str, Any]], django_assert_num_queries: Any
) -> None:
    make_user("kim", email="kim@example.org")
    answers = []

    for address in ("kim@example.org", "nobody@example.org"):
        with django_assert_num_queries(1):
            answers.append(Client().post("/password/forgotten/", {"email": address}))

    assert [answer.status_code for answer in answers] == [302, 302]
    assert {answer["Location"] for answer in answers} == {"/password/sent/"}
    assert mail.outbox == []
    assert [wanted["email"] for wanted in sent] == ["kim@example.org", "nobody@example.org"]


def test_workers_send_a_mail_to_whoever_there_is_at_most_five_times_an_hour(
    make_user: MakeUser,
) -> None:
    make_user("kim", email="kim@example.org")

    for _ in range(7):
        tasks.send_password_reset("Kim@example.org", domain="scores.example.org", use_https=True)
    tasks.send_password_reset("nobody@example.org", domain="scores.example.org", use_https=True)

    assert [message.to for message in mail.outbox] == [["kim@example.org"]] * 5
    assert "https://scores.example.org/password/new/" in str(mail.outbox[0].body)
