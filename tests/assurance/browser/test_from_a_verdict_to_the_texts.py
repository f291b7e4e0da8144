"""From a verdict to the worst disagreement in at most two clicks, through cases by keyboard, and
from the report to two judges compared in at most two; axe finds nothing serious on either page."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from evaluations.models import GapCause, Project
from tests.browser.clicks import Clicks
from tests.made_up_files import two_judges

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.browser, pytest.mark.processes]
REPORT = "/p/small/report/"
MOST_CLICKS = 2


@pytest.fixture
def judged(owner: User, project: Project, load: Callable[..., object]) -> Project:
    load(project, two_judges())
    return project


def press(page: Page, key: str) -> None:
    """Press a key once the page's scripts listen."""
    page.wait_for_load_state("load")
    page.keyboard.press(key)


def test_the_worst_disagreement_is_two_clicks_from_the_verdict_and_cases_are_read_by_keyboard(
    judged: Project, sign_in: Callable[[str], Page]
) -> None:
    page, clicks = sign_in("olga"), Clicks()
    page.goto(REPORT)

    clicks.on(page.get_by_role("link", name="Look at disagreements"))
    case = page.locator("#case")
    expect(case.get_by_role("heading", name="s3 on d07")).to_be_visible()
    assert clicks.count <= MOST_CLICKS
    expect(case.get_by_text("4.00 lower")).to_be_visible()
    expect(case.get_by_text("Output 7 of 3")).to_be_visible()

    press(page, "j")
    expect(case.get_by_text("2 of 60")).to_be_visible()
    press(page, "k")
    expect(case.get_by_text("1 of 60")).to_be_visible()
    press(page, "1")
    expect(page.get_by_text("s3 on d07: judge is wrong.")).to_be_visible()
    expect(case.get_by_text("2 of 60")).to_be_visible()
    assert GapCause.objects.get().cause == "judge is wrong"
    press(page, "u")
    expect(case.get_by_role("heading", name="s3 on d07")).to_be_visible()
    assert not GapCause.objects.exists()

    press(page, "n")
    page.keyboard.type("j is a letter here")
    page.keyboard.press("Enter")
    expect(page.get_by_text("s3 on d07: j is a letter here.")).to_be_visible()
    page.get_by_role("link", name="Verdicts").click()
    expect(page.get_by_text("Causes of disagreements found so far:")).to_be_visible()
