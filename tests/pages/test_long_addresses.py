"""However long a part of an address is, it leads to a page or to none, and to no error of ours."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import NoReverseMatch

from tests.pages.addresses import address, operations, records_of, routes

pytestmark = pytest.mark.django_db
TEXTS = {"slug", "token", "kind", "ending", "name", "page", "uidb64"}


@pytest.fixture
def place(judged_project: Any, make_user: Callable[..., Any]) -> dict[str, Any]:
    return records_of(judged_project, make_user)


def addresses(place: dict[str, Any], long: str) -> set[str]:
    """Every address with each of its texts, in turn, being long."""
    made = {path.replace("{slug}", long) for _, path in operations() if "{pk}" not in path}
    for name, taken in routes():
        if not name.startswith(("admin:", "api:")):
            for argument in TEXTS & {*taken}:
                try:
                    made.add(address(name, place, **{argument: long}))
                except NoReverseMatch:  # such as an ending, which is one of a few words
                    continue
    return made


@pytest.mark.parametrize("long", ["a" * 300, "a" * 9_000, "9" * 300], ids=["long", "longer", "9s"])
def test_long_parts_of_addresses_are_no_errors(
    as_role: Callable[[str], Client], place: dict[str, Any], long: str
) -> None:
    client = as_role("owner")
    client.raise_request_exception = False

    given = {one: client.get(one).status_code for one in addresses(place, long)}

    assert {one[:80]: status for one, status in given.items() if status >= 500} == {}
    assert len(given) > 100
