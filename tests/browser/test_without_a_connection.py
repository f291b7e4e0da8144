"""Items that were taken along are answered without a connection, also after the page was closed;
the answers are sent later, exactly once."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import BrowserContext, Page, expect

from annotations.models import Assignment, AssignmentState, Campaign, Rating
from evaluations.models import Project
from tests.browser.test_annotating import ann, campaign_for, corpus, current, press, task_address
from tests.conftest import wait_until

__all__ = ("ann", "corpus")
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.browser, pytest.mark.processes]
KEPT = "caches.keys().then(names => names.filter(name => name.startsWith('geval-offline-')).length)"


@pytest.fixture
def campaign(ann: User, corpus: Project) -> Campaign:
    return campaign_for(ann, corpus)


def take_along(page: Page, campaign: Campaign) -> None:
    page.goto(task_address(campaign))
    page.locator("[data-along] summary").click()
    page.locator("[data-take]").click()
    expect(page.locator("[data-kept-items]")).to_contain_text("without a connection until")


def answer(page: Page, *keys: str) -> int:
    """Rate the item at hand; its assignment."""
    assignment = current(page)
    press(page, *keys, "Enter")
    page.wait_for_function(
        "before => document.querySelector('[data-task]')?.dataset.assignment !== String(before)",
        arg=assignment,
    )
    return assignment


def submitted(campaign: Campaign) -> Any:
    return Assignment.objects.filter(campaign=campaign, state=AssignmentState.SUBMITTED)


def test_items_are_answered_without_a_connection_and_sent_once(
    campaign: Campaign, sign_in: Callable[[str], Page], context: BrowserContext
) -> None:
    page = sign_in("ann")
    take_along(page, campaign)

    context.set_offline(True)
    done = [answer(page, *"1234") for _ in range(4)]
    assert not submitted(campaign).exists()
    page.close()
    page = context.new_page()
    page.goto(task_address(campaign))
    expect(page.locator("[data-annotate]")).to_have_attribute("data-kept", "")
    page.wait_for_function(
        "done => !done.includes(Number(document.querySelector('[data-task]').dataset.assignment))",
        arg=done,
    )
    done += [answer(page, *"4321") for _ in range(4)]
    context.set_offline(False)
    page.evaluate("dispatchEvent(new Event('online'))")
    wait_until(lambda: submitted(campaign).count() == len(done), seconds=20)

    assert len(set(done)) == 8
    assert set(submitted(campaign).values_list("pk", flat=True)) == set(done)
    assert set(submitted(campaign).values_list("version", flat=True)) == {1}
    assert Rating.objects.count() == 4 * len(done)


def test_who_signs_out_leaves_no_items_in_the_browser(
    campaign: Campaign, sign_in: Callable[[str], Page], context: BrowserContext
) -> None:
    page = sign_in("ann")
    take_along(page, campaign)
    assert page.evaluate(KEPT) == 1

    context.clear_cookies()
    page.goto("/sign-in/")
    page.wait_for_function(f"{KEPT}.then(count => count === 0)")

    context.set_offline(True)
    with pytest.raises(Exception, match="ERR_"):
        page.goto(task_address(campaign))


def test_items_can_be_removed_again(campaign: Campaign, sign_in: Callable[[str], Page]) -> None:
    page = sign_in("ann")
    take_along(page, campaign)

    page.locator("[data-leave]").click()

    page.wait_for_function(f"{KEPT}.then(count => count === 0)")
    expect(page.locator("[data-leave]")).to_be_hidden()


@pytest.mark.parametrize(
    "refusal",
    ["delete window.caches", "caches.keys = caches.has = () => Promise.reject(new Error('no'))"],
)
def test_a_browser_that_keeps_nothing_can_annotate(
    campaign: Campaign, sign_in: Callable[[str], Page], refusal: str
) -> None:
    page = sign_in("ann")
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.add_init_script(refusal)
    page.goto(task_address(campaign))

    done = answer(page, *"1234")

    wait_until(lambda: submitted(campaign).filter(pk=done).exists(), seconds=20)
    assert errors == []
