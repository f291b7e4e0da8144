"""Where a visitor comes from behind proxies: limits and lockouts go by it, whatever the visitor
writes."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser, User
from django.core.cache import cache
from django.test import Client, RequestFactory

from evaluations.models import ApiToken, Project
from evaluations.models.tokens import new_token
from evaluations.people.senders import sender_of
from geval_site.visitors import address_behind, counted_address

PROXY = "10.0.0.1"


@pytest.mark.parametrize(
    ("proxies", "forwarded", "address"),
    [
        (0, "1.2.3.4", PROXY),  # nobody is trusted
        (1, "", PROXY),  # it came past the proxy
        (1, "1.2.3.4", "1.2.3.4"),
        (1, "6.6.6.6, 1.2.3.4", "1.2.3.4"),  # the visitor wrote 6.6.6.6
        (2, "6.6.6.6, 1.2.3.4, 10.0.0.2", "1.2.3.4"),
        (2, "1.2.3.4", PROXY),  # past one of the two
        (1, "6.6.6.6, nonsense", PROXY),
        (1, " 1.2.3.4:5678 ", "1.2.3.4"),
        (1, "[2001:db8::1]:443", "2001:db8::1"),
        (1, "2001:db8::1", "2001:db8::1"),
        (1, "::ffff:1.2.3.4", "1.2.3.4"),
        (1, "1.2.3.4,", PROXY),
        (1, '"1.2.3.4"', "1.2.3.4"),
        (3, "a,b,c,d", PROXY),
    ],
)
def test_the_address_is_read_from_the_right(proxies: int, forwarded: str, address: str) -> None:
    meta = {"REMOTE_ADDR": PROXY} | ({"HTTP_X_FORWARDED_FOR": forwarded} if forwarded else {})

    assert address_behind(meta, proxies=proxies) == address


@pytest.mark.parametrize("remote", ["", "unix:", "\x00"])
def test_a_socket_without_an_address_is_one_unknown_address(remote: str) -> None:
    assert address_behind({"REMOTE_ADDR": remote}, proxies=0) == "0.0.0.0"


def test_an_ipv6_network_is_counted_as_one() -> None:
    assert (
        counted_address("2001:db8:1:2:3::4")
        == counted_address("2001:db8:1:2:ffff::5")
        == "2001:db8:1:2::/64"
    )
    assert counted_address("1.2.3.4") == "1.2.3.4"


def from_(address: str, **more: str) -> Client:
    return Client(headers={"X-Forwarded-For": f"9.9.9.9, {address}"}, REMOTE_ADDR=PROXY, **more)


@pytest.mark.django_db
def test_wrong_passwords_from_elsewhere_lock_nobody_out(
    make_user: Callable[..., User], settings: Any
) -> None:
    settings.AXES_FAILURE_LIMIT, settings.PROXIES = 3, 1
    make_user("kim")

    def sign_in(address: str, password: str) -> int:
        return (
            from_(address).post("/sign-in/", {"username": "kim", "password": password}).status_code
        )

    tries = [sign_in("1.1.1.1", "wrong") for _ in range(4)]

    assert tries[-1] == 429
    assert sign_in("1.1.1.1", "secret-of-kim") == 429
    assert sign_in("2.2.2.2", "secret-of-kim") == 302


@pytest.fixture
def few(settings: Any) -> Iterator[None]:
    cache.clear()
    settings.REQUEST_RATE, settings.PROXIES = "2/h", 1
    yield
    cache.clear()


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/sign-in/", "/api/v1/projects"])
def test_a_made_up_token_is_no_new_sender(few: None, path: str) -> None:
    answers = [
        from_("1.1.1.1")
        .get(path, headers={"Authorization": f"Bearer geval_made-up-{number}"})
        .status_code
        for number in range(3)
    ]

    assert answers[-1] == 429


@pytest.mark.django_db
def test_a_valid_token_is_its_own_sender_in_the_api_only(owner: User, project: Project) -> None:
    token, digest = new_token()
    pk = ApiToken.objects.create(user=owner, name="t", digest=digest).pk

    def sender(path: str) -> str:
        request = RequestFactory(headers={"Authorization": f"Bearer {token}"}).get(path)
        request.user = AnonymousUser()
        return sender_of(request)

    assert sender("/api/v1/projects") == f"token {pk}"
    assert sender("/sign-in/") == "address 127.0.0.1"
    User.objects.update(is_active=False)
    assert sender("/api/v1/projects") == "address 127.0.0.1"
