"""Guidelines change while two people work: each sees the change once, before the next answer, and
their answers have the versions that they were shown."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Browser, Page, expect

from annotations.models import Assignment, Campaign
from annotations.planning.campaigns import open_campaign, seat_annotators
from evaluations.models import Membership, Project, Role
from tests.browser.conftest import sign_in_on

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.browser,
    pytest.mark.processes,
]


@pytest.fixture
def campaign(small_project: Project, make_user: Callable[..., User]) -> Campaign:
    """An open rating campaign of ann and bob."""
    small_project.guidelines = "Rate harshly.\nRead twice."
    small_project.save()
    users = [make_user(name) for name in ("ann", "bob")]
    for user in users:
        Membership.objects.create(project=small_project, user=user, role=Role.ANNOTATOR)
    campaign = Campaign.objects.create(project=small_project, name="Round", overlap=2)
    campaign.criteria.set(small_project.criteria.filter(name="fluency"))
    seat_annotators(campaign, users)
    open_campaign(campaign)
    return campaign


def answer(page: Page, key: str) -> None:
    """Answer the shown item, and wait until the server has it."""
    page.locator("[data-output]").first.wait_for()
    with page.expect_response(lambda response: response.url.endswith("/submit/")):
        page.keyboard.press(key)
        page.keyboard.press("Enter")


def test_two_people_see_a_change_once(
    browser: Browser, site: str, campaign: Campaign, owner: User, sign_in: Callable[[str], Page]
) -> None:
    pages = []
    for name in ("ann", "bob"):
        context = browser.new_context(base_url=site)
        page = context.new_page()
        sign_in_on(page, name)
        page.goto(f"/p/small/annotate/{campaign.pk}/task/")
        answer(page, "4")
        pages.append(page)
    desk = sign_in(owner.username)
    desk.goto("/p/small/annotate/guidelines/")
    desk.get_by_label("Guidelines").fill("Rate kindly.\nRead twice.")
    desk.get_by_role("button", name="Save guidelines").click()
    expect(desk.get_by_text("The guidelines are saved.")).to_be_visible()

    for page in pages:
        answer(page, "2")
        notice = page.get_by_role("heading", name="The guidelines have changed")
        expect(notice).to_be_visible()
        expect(page.locator(".diff li")).to_have_text(["− Rate harshly.", "+ Rate kindly."])
        page.get_by_role("button", name="Continue with the new guidelines").click()
        answer(page, "5")
        page.reload()
        page.locator("[data-output]").first.wait_for()
        expect(notice).to_have_count(0)
        page.context.close()

    versions = Assignment.objects.filter(state="submitted").order_by("annotator", "submitted_at")
    assert list(versions.values_list("guidelines_version", flat=True)) == [1, 1, 2] * 2
    desk.goto(f"/p/small/annotate/{campaign.pk}/")
    expect(desk.get_by_text("Version 2,")).to_be_visible()
