"""Thirty tasks of new users with the clicks that each takes: those of somebody who rates, and
of a lead whose project has no judge yet (see test_tasks_of_a_lead.py)."""

import re
from collections.abc import Callable

import pytest
from django.contrib.auth import get_user_model
from playwright.sync_api import Page, expect

from annotations.models import Assignment, AssignmentState, Campaign, Rating
from annotations.planning.campaigns import open_campaign, seat_annotators
from evaluations.models import Membership, Project, Role
from tests.browser.clicks import Clicks
from tests.conftest import OUTPUTS, RATINGS, load_texts, wait_until

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.browser,
    pytest.mark.processes,
    pytest.mark.usefixtures("campaign"),
]


@pytest.fixture(scope="module")
def campaign(owned: Project, worker: object, tmp_path_factory: pytest.TempPathFactory) -> Campaign:
    """Six outputs to rate on two criteria, by ann."""
    folder = tmp_path_factory.mktemp("files")
    load_texts(folder, owned, {"outputs.jsonl": OUTPUTS, "ratings.csv": RATINGS})
    user = get_user_model().objects.create_user("ann", password="secret-of-ann")
    Membership.objects.create(project=owned, user=user, role=Role.ANNOTATOR)
    made = Campaign.objects.create(project=owned, name="Ferries", overlap=1)
    made.criteria.set(owned.criteria.all())
    seat_annotators(made, [user])
    open_campaign(made)
    return made


@pytest.fixture
def page(campaign: Campaign, sign_in: Callable[[str], Page]) -> Page:
    page = sign_in("ann")
    page.goto("/")
    return page


def assignment_after(page: Page, *keys: str) -> Assignment:
    """Press keys once the page listens, and wait for the next item and for the database."""
    page.wait_for_load_state("load")
    before = page.locator("[data-task]").get_attribute("data-assignment")
    for key in keys:
        if len(key) > 1 and key != "Enter":
            page.keyboard.type(key)
        else:
            page.keyboard.press(key)
    expect(page.locator("[data-task]")).not_to_have_attribute("data-assignment", before or "")
    assignment = Assignment.objects.get(pk=int(before or 0))
    # The page goes on before the server has answered.
    wait_until(lambda: assignment.refresh_from_db() or assignment.state != AssignmentState.RESERVED)
    return assignment


def test_rate_an_item_by_keys(page: Page) -> None:
    clicks = Clicks(at_most=2)

    clicks.on(
        page.get_by_role("link", name="Small"),
        page.get_by_role("link", name="annotating"),
    )
    done = assignment_after(page, "4", "2", "Enter")

    assert done.state == AssignmentState.SUBMITTED
    output = done.item.outputs[0]
    given = Rating.objects.filter(output_id=output, annotator=done.annotator).order_by("criterion")
    assert list(given.values_list("score", flat=True)) == [4, 2]


def test_skip_an_item_with_the_reason(page: Page) -> None:
    clicks = Clicks(at_most=2)

    clicks.on(
        page.get_by_role("link", name="Small"),
        page.get_by_role("link", name="annotating"),
    )
    skipped = assignment_after(page, "s", "The text is broken", "Enter")

    assert skipped.state == AssignmentState.SKIPPED
    assert skipped.skip_reason == "The text is broken"


def test_see_how_far_annotators_agree_before_there_is_a_judge(home: Page) -> None:
    clicks = Clicks(at_most=2)

    clicks.on(
        home.get_by_role("link", name="People", exact=True),
        home.get_by_role("link", name="People of all ratings"),
    )

    # A worker computes it anew after an answer.
    about = home.get_by_role("region", name="fluency", exact=True)
    expect(about).to_contain_text("pairs of ratings are equal", timeout=60_000)
    expect(about).to_contain_text(re.compile(r"alpha\s*\?\s*0\.\d\d"))
