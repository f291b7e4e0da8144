"""The lists of docs/rights.txt hold for every page and every endpoint of the API, and leave none
out."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from django.db import transaction
from django.test import Client
from django.urls import reverse

from evaluations.models import Project
from tests.conftest import CHECKOUT
from tests.pages.addresses import address, operations, records_of, routes

pytestmark = pytest.mark.django_db
PAGE = (CHECKOUT / "docs" / "rights.md").read_text()
LISTS = (CHECKOUT / "docs" / "rights.txt").read_text()
ROLES = ("owner", "researcher", "viewer", "annotator", "stranger", "visitor")
RIGHTS = {
    name: dict(zip(ROLES, (cell.strip() for cell in cells.split("|")), strict=True))
    for name, cells in re.findall(r"^\| `([a-z ]+)` \| (.+) \|$", PAGE, re.M)
    if cells.count("|") == len(ROLES) - 1
}
ROWS = [
    (method, name, right)
    for right, listed in re.findall(r"^\[([a-z ]+)\]\n(.*?)(?:\n\n|\Z)", LISTS, re.M | re.S)
    for method, name in re.findall(r"^(GET|POST|PUT|DELETE|PATCH) (\S+)$", listed, re.M)
]
PAGES = {name for name, _ in routes() if not name.startswith(("admin:", "api:"))}
OPERATIONS = set(operations())


def test_every_page_and_endpoint_is_in_the_tables() -> None:
    assert PAGES - {name for _method, name, _right in ROWS} == set()
    assert OPERATIONS - {(method, name) for method, name, _right in ROWS} == set()
    assert [row for row in ROWS if row[1] not in PAGES and row[:2] not in OPERATIONS] == []
    assert {right for _method, _name, right in ROWS} <= set(RIGHTS)


@pytest.fixture
def place(judged_project: Project, make_user: Callable[..., Any]) -> dict[str, Any]:
    """An existing record for every argument that an address takes."""
    return records_of(judged_project, make_user)


def answer(response: Any) -> str:
    """What a response comes to, in the words of the table."""
    if response.status_code in (401, 403, 404):
        return {401: "sign in", 403: "no", 404: "hidden"}[response.status_code]
    if response.status_code == 302 and response["Location"].startswith(reverse("login") + "?next"):
        return "sign in"
    return "yes"


@pytest.mark.parametrize("role", ROLES)
def test_the_tables_hold_for_each_role(
    as_role: Callable[[str], Client], place: dict[str, Any], role: str
) -> None:
    client = as_role(role)
    project = place["project"]
    member = project.memberships.get(user_id=project.invitations.get().made_by_id).pk
    wrong = []
    session = client.cookies.get("sessionid")
    assert (session is not None) == (role != "visitor")
    for method, name, right in ROWS:
        if session is not None:
            client.cookies["sessionid"] = session.value  # one of the rows signs out
        with transaction.atomic():
            response = client.generic(
                method,
                address(name, place, member),
                json.dumps({}) if name.startswith("/") else "",
                content_type=(
                    "application/json"
                    if name.startswith("/")
                    else "application/x-www-form-urlencoded"
                ),
            )
            found = answer(response)
            transaction.set_rollback(True)
        if found != RIGHTS[right][role]:
            wrong.append(
                f"{method} {name}: {found} ({response.status_code}), the table says"
                f" {RIGHTS[right][role]}"
            )

    assert not wrong, "\n".join(wrong)
