"""Annotating at 375 px: source and submit are within the thumb's reach, and nothing covers what is
rated."""

from collections.abc import Callable

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.contrib.auth.models import User
from playwright.sync_api import Browser, Page, expect

from annotations.models import Campaign, Rating
from annotations.planning.campaigns import open_campaign, seat_annotators
from evaluations.models import CandidateOutput, Document, Membership, Project, Role, System
from tests.browser.conftest import sign_in_on
from tests.conftest import wait_until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.browser, pytest.mark.processes]
WIDTH, HEIGHT = 375, 667
# The lower half is what a thumb reaches.
REACH = HEIGHT / 2
LEAST_TARGET = 44


@pytest.fixture
def campaign(make_user: Callable[..., User], project: Project) -> Campaign:
    """Two long outputs in Markdown, two criteria."""
    user = make_user("ann")
    Membership.objects.create(project=project, user=user, role=Role.ANNOTATOR)
    system = System.objects.create(project=project, name="system")
    for number in range(2):
        document = Document.objects.create(
            project=project, doc_id=f"d{number}", source="The ferry sails at noon. " * 60
        )
        text = "# A **bold** claim\n\n" + "The ferry sails at noon.\n\n" * 20
        CandidateOutput.objects.create(document=document, system=system, text=text)
    for name in ("coherence", "fluency"):
        project.criteria.create(name=name)
    made = Campaign.objects.create(project=project, name="C", overlap=1, show_markdown=True)
    made.criteria.set(project.criteria.all())
    seat_annotators(made, [user])
    open_campaign(made)
    return made


def box(page: Page, selector: str) -> dict[str, float]:
    found = page.locator(selector).bounding_box()
    assert found
    return dict(found)


def test_an_item_is_read_rated_and_submitted_with_a_thumb(
    campaign: Campaign, sign_in: Callable[[str], Page]
) -> None:
    page = sign_in("ann")
    page.set_viewport_size({"width": WIDTH, "height": HEIGHT})
    page.goto(f"/p/small/annotate/{campaign.pk}/task/")
    expect(page.get_by_text("0 of 2")).to_be_visible()
    source, submit = "[data-source-fold] > summary", ".task-submit button"

    for scrolled in (0, 500):
        page.evaluate("top => window.scrollTo(0, top)", scrolled)
        for selector in (source, submit):
            place = box(page, selector)
            assert place["y"] >= REACH
            assert place["y"] + place["height"] <= HEIGHT
            assert place["height"] >= LEAST_TARGET
    one, other = box(page, source), box(page, submit)
    assert one["x"] + one["width"] <= other["x"]

    # The source opens over the text, and closes where it was opened.
    page.locator(source).click()
    expect(page.locator("[data-source]")).to_be_in_viewport()
    page.locator(source).click()
    expect(page.locator("[data-source]")).to_be_hidden()

    # Formatted, or as it was written.
    expect(page.locator("[data-formatted] strong")).to_be_visible()
    page.locator("[data-as-written] > summary").click()
    expect(page.locator("[data-formatted]")).to_be_hidden()
    expect(page.get_by_text("# A **bold** claim")).to_be_visible()

    before = page.locator("[data-task]").get_attribute("data-assignment")
    for question in page.locator("[data-question]").all():
        face = question.locator(".point-face").first
        face.scroll_into_view_if_needed()
        target = face.bounding_box()
        assert target
        assert target["height"] >= LEAST_TARGET
        question.locator("input").nth(3).check()
        ends = question.locator(".ends")
        expect(ends.get_by_text("low")).to_be_visible()
        expect(ends.get_by_text("high")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= WIDTH
    violations = [
        found["id"]
        for found in Axe().run(page).response["violations"]
        if found["impact"] in ("serious", "critical")
    ]
    assert violations == []

    page.locator(submit).click()
    page.wait_for_function(
        "before => document.querySelector('[data-task]').dataset.assignment !== before", arg=before
    )
    expect(page.get_by_text("1 of 2", exact=True)).to_be_visible()
    # What was chosen holds for the next item.
    expect(page.locator("[data-formatted]")).to_be_hidden()
    # The next item is shown while the answer is on its way.
    wait_until(lambda: set(Rating.objects.values_list("score", flat=True)) == {4.0})


def test_the_text_begins_in_the_upper_third_of_a_touch_screen(
    browser: Browser, site: str, campaign: Campaign
) -> None:
    Campaign.objects.filter(pk=campaign.pk).update(
        name="Summaries of the news of a whole long year"
    )
    context = browser.new_context(
        base_url=site, has_touch=True, is_mobile=True, viewport={"width": WIDTH, "height": HEIGHT}
    )
    page = context.new_page()
    sign_in_on(page, "ann")

    # Where the work is that waits.
    expect(page.locator("[data-formatted]")).to_be_visible()
    assert box(page, "[data-formatted]")["y"] <= HEIGHT / 3
    expect(page.locator("#guidelines")).to_be_visible()
    expect(page.locator("#keys")).to_be_hidden()
    assert page.evaluate("document.documentElement.scrollWidth") <= WIDTH
    context.close()


def test_submit_is_on_the_screen_with_four_criteria(
    project: Project, campaign: Campaign, sign_in: Callable[[str], Page]
) -> None:
    campaign.criteria.add(*(project.criteria.create(name=name) for name in ("c", "d")))
    page = sign_in("ann")
    page.set_viewport_size({"width": 1280, "height": 800})
    page.goto(f"/p/small/annotate/{campaign.pk}/task/")
    expect(page.locator("[data-question]")).to_have_count(4)

    for scrolled in (0, 300, 5000):
        page.evaluate("top => window.scrollTo(0, top)", scrolled)
        place = box(page, ".task-submit button")
        assert 0 <= place["y"] <= 800 - place["height"]


def test_guidelines_cover_no_text_on_a_desk(
    campaign: Campaign, sign_in: Callable[[str], Page]
) -> None:
    page = sign_in("ann")
    page.set_viewport_size({"width": 1280, "height": 850})
    page.goto(f"/p/small/annotate/{campaign.pk}/task/")
    page.keyboard.press("g")
    drawer = box(page, "#guidelines .drawer-body")

    for selector in ("[data-output]", ".questions", ".task-source"):
        place = box(page, selector)
        assert place["x"] + place["width"] <= drawer["x"]
    page.keyboard.press("m")
    expect(page.locator("[data-formatted]")).to_be_hidden()
    page.keyboard.press("m")
    expect(page.locator("[data-formatted]")).to_be_visible()
