"""Every page, as an owner, an annotator and somebody with a shared link meet it: no error in the
console, nothing serious for axe, nothing wider than the window.

The pages are those of docs/rights.txt, so a new one cannot be forgotten here.
"""

from collections.abc import Callable
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.contrib.auth.models import User
from django.test import Client
from playwright.sync_api import Page

from evaluations.models import Membership, Role
from tests.pages.test_rights import ROWS, address, place

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.browser, pytest.mark.processes]
SERIOUS = ("serious", "critical")
OTHER = {"light": "dark", "dark": "light"}
# All that a theme changes.
COLOURS = {"runOnly": ["color-contrast"]}
__all__ = ["place"]  # a fixture


def pages_of(client: Client, place: dict[str, Any], member: int) -> dict[str, str]:
    """The addresses of all whole pages that somebody can open, by name; downloads and parts of
    pages are none."""
    found = {}
    for method, name, _right in ROWS:
        if method != "GET" or name.startswith(("/", "docs")) or name == "logout":
            continue
        response = client.get(address(name, place, member))
        is_page = response.status_code == 200 and not response.streaming
        if is_page and response.content.lstrip()[:9].lower() == b"<!doctype":
            found[name] = response.request["PATH_INFO"]
    return found


def wrong_on(page: Page, addresses: dict[str, str], scheme: str) -> list[tuple[str, str]]:
    """What is wrong on pages in a theme, and with colours in the other one; by name."""
    wrong: list[tuple[str, str]] = []
    said: list[str] = []
    page.on("console", lambda one: said.append(one.text) if one.type == "error" else None)
    page.on("pageerror", lambda error: said.append(str(error)))
    for name, path in addresses.items():
        page.goto(path)
        page.evaluate("window.scrollTo(0, document.documentElement.scrollHeight)")
        said += _serious(Axe().run(page))
        page.emulate_media(color_scheme=OTHER[scheme])  # type: ignore[arg-type]
        said += _serious(Axe().run(page, options=COLOURS))
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        wider = page.evaluate(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
        if wider > 0:
            said.append(f"{wider} px wider than the window")
        wrong += [(name, one) for one in said]
        said.clear()
    return wrong


def _serious(found: Any) -> list[str]:
    return [
        f"{violation['id']}: {[node['html'][:160] for node in violation['nodes'][:3]]}"
        for violation in found.response["violations"]
        if violation["impact"] in SERIOUS
    ]


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (375, "dark")])
@pytest.mark.parametrize("role", ["owner", "annotator", "visitor"])
def test_nothing_is_wrong_on_any_page(
    owner: User,
    make_user: Callable[..., User],
    place: dict[str, Any],
    sign_in: Callable[[str], Page],
    context: Any,
    role: str,
    width: int,
    scheme: str,
) -> None:
    user = owner if role == "owner" else make_user("ann", is_staff=False)
    project = place["project"]
    if role == "annotator":
        Membership.objects.create(project=project, user=user, role=Role.ANNOTATOR)
    client = Client()
    if role != "visitor":
        client.force_login(user)
    member = project.memberships.exclude(user=user).first().pk
    addresses = pages_of(client, place, member)
    page = context.new_page() if role == "visitor" else sign_in(user.username)
    page.set_viewport_size({"width": width, "height": 800})
    page.emulate_media(color_scheme=scheme)

    assert len(addresses) > {"owner": 45, "annotator": 5, "visitor": 4}[role], list(addresses)
    wrong = wrong_on(page, addresses, scheme)
    assert wrong == [], "\n".join(map(str, wrong))
