"""Annotators who read a page aloud, in the system's colours or with keys of their own, and who lose
their session or share a browser: nothing is unnamed, nothing is lost, nothing is sent in another
one's name."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from playwright.sync_api import BrowserContext, Page, expect

from annotations.models import Assignment, AssignmentState, Campaign, Rating
from annotations.planning.campaigns import open_campaign, seat_annotators
from evaluations.models import CandidateOutput, Document, Membership, Project, Role, System
from tests.browser.conftest import sign_in_on
from tests.conftest import wait_until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.browser, pytest.mark.processes]


@pytest.fixture
def campaign(project: Project, make_user: Callable[..., User]) -> Campaign:
    """Six documents, one system, two criteria; ann and ben annotate all."""
    system = System.objects.create(project=project, name="one")
    for number in range(6):
        document = Document.objects.create(
            project=project, doc_id=f"d{number}", source="A ferry sails at noon."
        )
        CandidateOutput.objects.create(
            document=document, system=system, text=f"Ferry {number} sails."
        )
    for position, name in enumerate(("coherence", "fluency")):
        project.criteria.create(name=name, definition=f"The {name}.", position=position)
    made = Campaign.objects.create(project=project, name="C", overlap=2)
    made.criteria.set(project.criteria.all())
    users = [make_user("ann"), make_user("ben")]
    for user in users:
        Membership.objects.create(project=project, user=user, role=Role.ANNOTATOR)
    seat_annotators(made, users)
    open_campaign(made)
    return made


@pytest.fixture
def page(campaign: Campaign, sign_in: Callable[[str], Page]) -> Page:
    page = sign_in("ann")
    open_task(page, campaign)
    return page


def open_task(page: Page, campaign: Campaign) -> None:
    page.goto(f"/p/{campaign.project.slug}/annotate/{campaign.pk}/task/")


def current(page: Page) -> str:
    return str(page.locator("[data-task]").get_attribute("data-assignment"))


def rate(page: Page) -> str:
    before = current(page)
    for key in ("4", "2", "Enter"):
        page.keyboard.press(key)
    page.wait_for_function(
        "before => document.querySelector('[data-task]')?.dataset.assignment !== before",
        arg=before,
    )
    return before


def waiting(page: Page) -> int:
    """Answers that this browser keeps, of whomever."""
    return int(
        page.evaluate(
            """() => Object.entries(localStorage).filter(([name]) => name.includes("outbox"))
                .reduce((sum, [, letters]) => sum + JSON.parse(letters).length, 0)"""
        )
    )


def test_answers_given_after_the_session_ended_are_sent_after_signing_in_again(
    page: Page, context: BrowserContext
) -> None:
    page.wait_for_load_state("networkidle")
    Session.objects.all().delete()
    rate(page)
    expect(page.locator("#trouble")).to_contain_text("You are signed out")
    assert waiting(page) == 1

    other = context.new_page()
    sign_in_on(other, "ann")
    wait_until(lambda: Rating.objects.count() == 2)

    expect(page.locator("#trouble")).to_be_hidden()
    wait_until(lambda: waiting(page) == 0)
    assert {rating.score for rating in Rating.objects.all()} == {4, 2}
    assert not Assignment.objects.filter(draft__isnull=False).exists()


def test_two_people_on_one_browser_send_in_their_own_names(
    page: Page, context: BrowserContext, campaign: Campaign
) -> None:
    page.wait_for_load_state("networkidle")  # the next item is loaded ahead
    Session.objects.all().delete()
    of_ann = rate(page)
    other = context.new_page()
    sign_in_on(other, "ben")
    open_task(other, campaign)
    of_ben = rate(other)
    wait_until(lambda: Rating.objects.count() == 2)

    expect(page.locator("#trouble")).to_contain_text("Somebody else is signed in")
    assert set(Rating.objects.values_list("annotator__user__username", flat=True)) == {"ben"}
    assert Assignment.objects.get(pk=of_ben).state == AssignmentState.SUBMITTED
    assert waiting(page) == 1

    other.request.post("/sign-out/")
    other.goto("/")
    context.clear_cookies()
    sign_in_on(other, "ann")
    wait_until(lambda: Rating.objects.count() == 4)
    assert Assignment.objects.get(pk=of_ann).state == AssignmentState.SUBMITTED
    assert Rating.objects.filter(annotator__user__username="ann").count() == 2
