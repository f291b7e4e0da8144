"""A round of two people from beginning to end: the guidelines change and each sees the change once,
an answer is returned and corrected, agreement by version moves, and the set is published and opened
as a dataset."""

import io
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping

import pyarrow.parquet as pq
import pytest
import yaml
from django.contrib.auth.models import User
from playwright.sync_api import Browser, Download, Page, expect

from annotations.models import Assignment, Campaign, Review
from annotations.planning.campaigns import open_campaign, seat_annotators
from evaluations.models import Membership, Project, Role
from tests.browser.conftest import PATIENCE_MS, sign_in_on

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.browser,
    pytest.mark.processes,
]
# The point for each system's outputs, by person, before and after the guidelines change; bob
# has one of the last document wrong.
FIRST = {"ann": {"good": 4, "odd": 2}, "bob": {"good": 2, "odd": 4}}
THEN = {"good": 5, "odd": 1}
WRONG = "The 3. ferry sails"


@pytest.fixture
def campaign(small_project: Project, make_user: Callable[..., User]) -> Campaign:
    """An open rating campaign of ann and bob on six outputs of three documents."""
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


@pytest.fixture
def pages(browser: Browser, site: str, campaign: Campaign) -> Iterator[dict[str, Page]]:
    """The pages of ann and bob, each in a browser of their own, at their first item."""
    pages = {}
    for name in ("ann", "bob"):
        context = browser.new_context(base_url=site)
        context.set_default_timeout(PATIENCE_MS)
        pages[name] = context.new_page()
        sign_in_on(pages[name], name)
        pages[name].goto(f"/p/small/annotate/{campaign.pk}/task/")
    yield pages
    for page in pages.values():
        page.context.close()


def answer(page: Page, points: Mapping[str, int], *, wrong: str = "-") -> None:
    """Answer the shown item by its system, and wait until the next or none is shown."""
    before = page.locator("[data-task]").get_attribute("data-assignment")
    text = page.locator("[data-output]").first.inner_text()
    point = 1 if wrong in text else points["good" if "in the morning" in text else "odd"]
    with page.expect_response(lambda response: response.url.endswith("/submit/")):
        page.keyboard.press(str(point))
        page.keyboard.press("Enter")
    page.wait_for_function(
        "before => document.querySelector('[data-task]')?.dataset.assignment !== before",
        arg=before,
    )


def agreement(desk: Page) -> dict[str, float]:
    """Alpha by version, as the campaign's page shows it."""
    rows = desk.get_by_role("table", name="Agreement by version").locator("tbody tr")
    texts = [row.inner_text() for row in rows.all()]
    return {text.split()[0]: float(re.findall(r"[−-]?\d\.\d\d", text)[0].replace("−", "-"))
            for text in texts}  # fmt: skip


def tables_of(download: Download) -> tuple[zipfile.ZipFile, dict[str, list[dict[str, object]]]]:
    """The published file, and its tables by name."""
    archive = zipfile.ZipFile(io.BytesIO(download.path().read_bytes()))
    names = [name for name in archive.namelist() if name.endswith(".parquet")]
    return archive, {
        name.removesuffix(".parquet"): pq.read_table(io.BytesIO(archive.read(name))).to_pylist()
        for name in names
    }


def test_guidelines_change_an_answer_is_corrected_and_the_set_is_published(
    campaign: Campaign, pages: dict[str, Page], owner: User, sign_in: Callable[[str], Page]
) -> None:
    for name, page in pages.items():
        answer(page, FIRST[name])
    desk = sign_in(owner.username)
    desk.goto("/p/small/annotate/guidelines/")
    desk.get_by_label("Guidelines").fill("Rate kindly.\nRead twice.")
    desk.get_by_role("button", name="Save guidelines").click()
    expect(desk.get_by_text("The guidelines are saved.")).to_be_visible()

    # Each sees the change once, after the item that was on their screen.
    for name, page in pages.items():
        answer(page, FIRST[name])
        notice = page.get_by_role("heading", name="The guidelines have changed")
        expect(notice).to_be_visible()
        expect(page.locator(".diff li")).to_have_text(["− Rate harshly.", "+ Rate kindly."])
        page.get_by_role("button", name="Continue with the new guidelines").click()
        for _ in range(4):
            expect(page.locator("[data-output]").first).to_be_visible()
            answer(page, THEN, wrong=WRONG if name == "bob" else "-")
        expect(page.get_by_text("All done.")).to_be_visible()
        expect(notice).to_have_count(0)
    versions = Assignment.objects.order_by("annotator", "submitted_at")
    assert list(versions.values_list("guidelines_version", flat=True)) == [1, 1, 2, 2, 2, 2] * 2

    # A reviewer returns bob's wrong answer.
    desk.goto(f"/p/small/annotate/{campaign.pk}/")
    before = agreement(desk)
    expect(desk.get_by_text("Version 2,")).to_be_visible()
    desk.get_by_role("link", name=re.compile("^bob")).click()
    row = desk.get_by_role("row", name=re.compile(WRONG))
    row.get_by_label("Message").fill("This sails well. Read it again.")
    row.get_by_role("button", name="Return").click()
    expect(desk.get_by_text("The answer is returned.")).to_be_visible()

    # He finds it where he works, and corrects it.
    page = pages["bob"]
    page.get_by_role("link", name="Check again").click()
    page.get_by_role("link", name="Returned to you").click()
    expect(page.get_by_text("This sails well. Read it again.")).to_be_visible()
    answer(page, THEN)
    expect(page.get_by_text("All done.")).to_be_visible()
    expect(page.get_by_role("link", name="Returned to you")).to_have_count(0)

    # It comes back to the reviewer, and agreement moves.
    desk.goto(f"/p/small/annotate/{campaign.pk}/")
    desk.get_by_role("link", name="1 answer to review").click()
    desk.get_by_role("button", name="Accept").click()
    expect(desk.get_by_text("There are no such answers.")).to_be_visible()
    steps = Review.objects.values_list("action", flat=True)
    assert list(steps) == ["returned", "corrected", "accepted"]
    desk.get_by_role("link", name="Back to Round").click()
    moved = desk.get_by_role("row", name=re.compile(r"^2 .*1\.00"))
    expect(moved).to_be_visible()
    after = agreement(desk)
    assert before["1"] == after["1"] < 0 < before["2"] < after["2"] == 1

    # The set is published and opened.
    desk.goto("/p/small/annotate/")
    desk.get_by_role("link", name="publish as a dataset").click()
    desk.get_by_label("Licence").select_option("cc-by-4.0")
    with desk.expect_download() as published:
        desk.get_by_role("button", name="Download the dataset").click()
    archive, tables = tables_of(published.value)
    card = archive.read("README.md").decode()
    assert yaml.safe_load(card.split("---\n")[1])["license"] == "cc-by-4.0"
    assert "> Rate kindly." in card
    of_round = [row for row in tables["ratings"] if row["guidelines_version"] is not None]
    given = sorted((row["guidelines_version"], row["score"]) for row in of_round)
    assert given == [(1, 2), (1, 2), (1, 4), (1, 4), *[(2, 1)] * 4, *[(2, 5)] * 4]
    assert not {"ann", "bob"} & {str(row["annotator"]) for row in tables["ratings"]}
    assert len(tables["campaign-answers"]) == 12
