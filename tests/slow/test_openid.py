"""Signing in through an OpenID Connect provider: a real site, a real browser, and a small provider
of our own."""

from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Browser, BrowserContext, expect

from evaluations.models import Membership, Project
from tests.browser.conftest import PATIENCE_MS, browser
from tests.openid_provider import Provider, address, provider

__all__ = ["address", "browser", "provider"]  # fixtures
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.browser, pytest.mark.processes]


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    made = browser.new_context()
    made.set_default_timeout(PATIENCE_MS)
    yield made
    made.close()


def test_who_the_provider_knows_gets_an_account_and_sees_what_they_are_invited_to(
    context: BrowserContext, address: str, provider: Provider, owner: User, project: Project
) -> None:
    page = context.new_page()
    page.goto(f"{address}/p/small/")
    page.get_by_role("button", name="Sign in with Example ID").click()
    expect(page.get_by_text("grace", exact=True)).to_be_visible()
    assert User.objects.get(username="grace").has_usable_password() is False
    assert page.get_by_role("heading").first.text_content() != "Small"  # a stranger: not found

    Membership.objects.create(
        project=project, user=User.objects.get(username="grace"), role="viewer"
    )
    page.goto(f"{address}/p/small/")
    expect(page.get_by_role("heading", name="Small")).to_be_visible()
    page.get_by_role("button", name="Account").click()
    page.get_by_role("button", name="Sign out").click()

    # The same name from another account of the provider is another person; a local name is not
    # taken over.
    provider.who = {
        "sub": "18",
        "preferred_username": owner.username,
        "email": owner.email or "o@example.org",
    }
    page.goto(f"{address}/sign-in/")
    page.get_by_role("button", name="Sign in with Example ID").click()
    expect(page.get_by_role("button", name="Account")).to_be_visible()
    page.goto(f"{address}/p/small/")
    expect(page.get_by_role("heading", name="Small")).to_be_hidden()


def test_a_provider_that_refuses_is_reported_on_a_page_of_ours(
    context: BrowserContext, address: str, provider: Provider
) -> None:
    page = context.new_page()
    page.goto(f"{address}/sign-in/with/oidc/login/callback/?error=access_denied&state=x")

    assert not User.objects.exists()
    expect(page.locator("header.top")).to_be_visible()
