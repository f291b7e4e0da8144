"""A reader without an account opens a shared link: verdict, a number, its documents, and back."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Browser, Page, expect

from evaluations.models import Project
from tests.browser.clicks import Clicks
from tests.browser.test_report_page import SCORES

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.browser, pytest.mark.processes]
MOST_CLICKS_TO_SHARE = 3
MOST_CLICKS_TO_TEXTS = 2


@pytest.mark.parametrize("with_texts", [True, False])
def test_a_number_leads_to_its_documents_and_back(
    owner: User,
    small_project: Project,
    load: Callable[..., object],
    sign_in: Callable[[str], Page],
    browser: Browser,
    *,
    with_texts: bool,
) -> None:
    load(small_project, {"scores.csv": SCORES})
    page, clicks = sign_in("olga"), Clicks()
    page.goto("/p/small/report/")
    clicks.on(page.get_by_role("button", name="Publish"))
    if with_texts:
        page.get_by_label("With texts: sources").check()
    clicks.on(page.get_by_role("button", name="Create link"))
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    clicks.on(page.get_by_role("button", name="Copy link"))
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert clicks.count <= MOST_CLICKS_TO_SHARE
    address = page.evaluate("navigator.clipboard.readText()")

    reader, clicks = browser.new_context().new_page(), Clicks()
    reader.goto(address)
    expect(reader.get_by_text("Coherence, fluency: it is too early to say.")).to_be_visible()
    clicks.on(reader.locator(".standings .labels a").first)
    expect(reader.get_by_role("heading", name="imported on coherence")).to_be_visible()
    if with_texts:
        clicks.on(reader.get_by_role("link", name="d1"))
        assert clicks.count <= MOST_CLICKS_TO_TEXTS
        expect(reader.get_by_text("The 1. ferry sails at 1")).to_be_visible()
        expect(reader.get_by_text("A ferry, a ferry, 1")).to_be_visible()
        reader.get_by_role("link", name="Back to the documents").click()
    else:
        expect(reader.get_by_text("This link does not share texts.")).to_be_visible()
        expect(reader.get_by_role("link", name="d1")).to_have_count(0)
    reader.get_by_role("link", name="Back to the report").click()
    expect(reader).to_have_url(address)
    reader.context.close()
