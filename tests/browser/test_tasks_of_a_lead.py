"""Thirty tasks of new users with the clicks that each takes: those of somebody who leads a study.

Each begins on the project's first page. The others are in test_tasks_of_a_researcher.py,
test_tasks_of_an_annotator.py and, for pages of assurance, in tests/assurance/browser.
"""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from evaluations.models import ApiToken, Invitation, Project
from tests.browser.clicks import Clicks
from tests.conftest import load_texts
from tests.made_up_files import two_judges

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.browser,
    pytest.mark.processes,
    pytest.mark.usefixtures("judged"),
]


@pytest.fixture(scope="module")
def judged(owned: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    load_texts(tmp_path_factory.mktemp("files"), owned, two_judges())
    return owned


def test_find_which_judge_may_rate_coherence_and_how_sure_that_is(home: Page) -> None:
    clicks = Clicks(at_most=1)

    clicks.on(home.get_by_role("link", name="Report", exact=True))

    row = home.locator(".standings tbody tr", has_text="coherence")
    expect(row.get_by_text("near", exact=True)).to_be_visible()
    expect(row.locator(".verdict")).to_be_visible()
    expect(row.locator("span.ci")).to_have_text(re.compile(r"\[.*\d\.\d\d, .*\d\.\d\d\]"))


def test_see_the_evidence_of_one_criterion(home: Page) -> None:
    clicks = Clicks(at_most=2)

    clicks.on(home.get_by_role("link", name="Report", exact=True))
    clicks.on(home.locator(".standings").get_by_role("link", name="coherence"))

    expect(home.get_by_role("heading", name="coherence", exact=True)).to_be_visible()
    expect(home.locator(".forest").get_by_text("far")).to_be_visible()


def test_share_the_report(home: Page) -> None:
    clicks = Clicks(at_most=3)

    clicks.on(
        home.get_by_role("link", name="Report", exact=True),
        home.get_by_role("button", name="Publish"),
        home.get_by_role("button", name="Create link"),
    )

    expect(home.get_by_text("Anyone with this link can read the report.")).to_be_visible()
    expect(home.locator("main").get_by_text("/shared/")).to_be_visible()


def test_download_the_table_for_latex(home: Page) -> None:
    clicks = Clicks(at_most=3)

    clicks.on(
        home.get_by_role("link", name="Report", exact=True),
        home.get_by_role("button", name="Publish"),
    )
    with home.expect_download() as download:
        clicks.on(home.get_by_role("link", name="LaTeX"))

    assert r"\begin{tabular}" in Path(download.value.path()).read_text()


def test_freeze_a_report_with_a_hash_to_cite(home: Page) -> None:
    clicks = Clicks(at_most=3)

    clicks.on(
        home.get_by_role("link", name="Report", exact=True),
        home.get_by_role("button", name="Publish"),
        home.get_by_role("button", name="Freeze report"),
    )

    expect(home.locator("main")).to_contain_text(re.compile("[0-9a-f]{64}"))


def test_print_the_report(home: Page) -> None:
    clicks = Clicks(at_most=3)
    home.add_init_script("window.print = () => { document.body.dataset.printed = 'yes'; }")

    clicks.on(
        home.get_by_role("link", name="Report", exact=True),
        home.get_by_role("button", name="Publish"),
        home.get_by_role("button", name="Print"),
    )

    expect(home.locator("body")).to_have_attribute("data-printed", "yes")


def test_find_what_a_word_means_and_where_its_formula_is(home: Page) -> None:
    clicks = Clicks(at_most=2)

    clicks.on(
        home.get_by_role("link", name="Report", exact=True),
        home.locator(".standings ~ p").get_by_role("button", name="interval").first,
    )

    opened = home.locator("[popover]:popover-open")
    expect(opened.get_by_text("When to trust it:")).to_be_visible()
    expect(opened.get_by_role("link")).to_have_attribute("href", re.compile("/docs/method/#"))


def test_invite_a_member(home: Page) -> None:
    clicks = Clicks(at_most=4)

    clicks.on(
        home.get_by_role("link", name="People", exact=True),
        home.get_by_role("link", name="Members", exact=True),
    )
    clicks.choose(home.locator("#id_role"), "researcher")
    clicks.on(home.get_by_role("button", name="Create invitation link"))

    expect(home.get_by_text("to the person you invite as researcher")).to_be_visible()
    assert Invitation.objects.get().role == "researcher"


def test_create_a_token_for_a_program(home: Page) -> None:
    clicks = Clicks(at_most=3)

    clicks.on(
        home.get_by_role("button", name="Account: olga"),
        home.get_by_role("link", name="API tokens"),
    )
    home.get_by_label("Name").fill("notebook")
    clicks.on(home.get_by_role("button", name="Create token"))

    expect(home.get_by_text("Copy this token now")).to_be_visible()
    assert ApiToken.objects.get().name == "notebook"


def test_change_the_theme(home: Page) -> None:
    clicks = Clicks(at_most=2)
    colour = "getComputedStyle(document.body).backgroundColor"
    before = home.evaluate(colour)

    clicks.on(
        home.get_by_role("button", name="Account: olga"),
        home.get_by_role("button", name="Dark theme"),
    )

    assert home.evaluate(colour) != before


def test_sign_out(judged: Project, context: object, sign_in: Callable[[str], Page]) -> None:
    clicks, page = Clicks(at_most=2), sign_in("olga")

    clicks.on(
        page.get_by_role("button", name="Account: olga"),
        page.get_by_role("button", name="Sign out"),
    )

    expect(page.get_by_role("button", name="Sign in")).to_be_visible()
