"""A campaign with a goal is opened in a browser, and its page sees it close itself."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from annotations.goals.goals import close_reached_campaigns
from annotations.models import Campaign
from annotations.planning.campaigns import annotator_of
from evaluations.models import Membership, Project, Role
from tests.annotations.answered import answer, many_documents
from tests.browser.conftest import serious

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.browser, pytest.mark.processes]


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (375, "dark")])
def test_a_campaign_with_a_goal_closes_itself(
    project: Project,
    owner: User,
    make_user: Callable[..., User],
    sign_in: Callable[[str], Page],
    width: int,
    scheme: str,
) -> None:
    many_documents(project, 20)
    user = make_user("ann")
    Membership.objects.create(project=project, user=user, role=Role.ANNOTATOR)
    page = sign_in("olga")
    page.set_viewport_size({"width": width, "height": 800})
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]

    page.goto(f"/p/{project.slug}/annotate/new/")
    page.get_by_role("textbox", name="Name").fill("Which is better")
    page.get_by_label("Annotators per item").fill("1")
    page.get_by_text("Stop when it is enough").click()
    expect(page.get_by_label("On the criterion")).to_be_hidden()
    page.get_by_label("Close by itself when").select_option("systems")
    expect(page.get_by_label("Precision (±)")).to_be_hidden()
    page.get_by_label("On the criterion").select_option(label="coherence")
    page.get_by_label("System", exact=True).select_option(label="better")
    page.get_by_label("Other system").select_option(label="worse")
    assert serious(page) == []
    page.get_by_role("button", name="Save").click()
    page.get_by_role("button", name="Open campaign").click()
    expect(page.get_by_text("No document counts yet")).to_be_visible()

    campaign = Campaign.objects.get()
    annotator = annotator_of(project, user)
    answer(campaign, annotator, lambda name: 5.0 if name == "better" else 1.0, most=10)
    expect(page.get_by_text("of 20 documents count")).to_be_visible()
    assert serious(page) == []
    answer(campaign, annotator, lambda name: 5.0 if name == "better" else 1.0)
    close_reached_campaigns()  # as a worker's heartbeat does

    expect(page.get_by_text("Goal reached.")).to_be_visible()
    expect(page.get_by_role("button", name="Reopen campaign")).to_be_visible()
    wider = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert page.evaluate(wider) <= 0
