"""A study as a panel sends people to it: the owner opens a campaign, one participant comes from the
link to the code, another leaves, and the payment file says what to pay."""

import csv
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from annotations.models import Assignment, Campaign, OpenLink, Participant, Rating
from evaluations.models import CandidateOutput, Document, Project, System
from tests.browser.conftest import PATIENCE_MS

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.browser, pytest.mark.processes]


@pytest.fixture(scope="module")
def texts(owned: Project) -> Project:
    systems = [System.objects.create(project=owned, name=f"system-{n}") for n in (1, 2)]
    for number in range(4):
        document = Document.objects.create(
            project=owned, doc_id=f"d{number}", source=f"Ferry {number} sails at noon."
        )
        CandidateOutput.objects.bulk_create(
            CandidateOutput(document=document, system=system, text=f"A ferry sails, {number}.")
            for system in systems
        )
    owned.criteria.create(name="coherence", definition="How well it hangs together.")
    return owned


def participant_page(browser: Browser, site: str, name: str) -> Page:
    """A new browser of somebody whom the panel sent."""
    context = browser.new_context(base_url=site)
    context.set_default_timeout(PATIENCE_MS)
    page = context.new_page()
    page.goto(f"/c/ferries?PROLIFIC_PID={name}&STUDY_ID=s&SESSION_ID=t")
    return page


def rate_one(page: Page) -> None:
    page.wait_for_load_state("networkidle")  # keys work once the page's script is there
    before = page.locator("[data-task]").get_attribute("data-assignment")
    page.keyboard.press("4")
    page.keyboard.press("Enter")
    page.wait_for_function(
        "before => document.querySelector('[data-task]')?.dataset.assignment !== before",
        arg=before,
    )


def test_a_study_from_the_link_to_the_payment_file(
    browser: Browser, site: str, desk: BrowserContext, texts: Project, tmp_path: Path
) -> None:
    campaign = Campaign.objects.create(project=texts, name="Study", overlap=2)
    campaign.criteria.set(texts.criteria.all())

    # The owner opens it to everybody.
    home = desk.new_page()
    home.goto(f"/p/small/annotate/{campaign.pk}/")
    home.get_by_role("link", name="Open to everybody").click()
    home.get_by_label("Name in the address").fill("ferries")
    home.get_by_label("Title that participants see").fill("Rate short texts")
    home.get_by_label("Consent").fill("We ask you to rate texts.")
    home.get_by_label("People in all").fill("2")
    home.get_by_label("Items per person").fill("3")
    home.get_by_label("Questions before").fill("Do you read English daily? | yes = 2, no = 0")
    home.get_by_label("Questions after").fill("What was hard? | text")
    home.locator("summary", has_text="Codes and ways back").click()
    home.get_by_label("Code: done").fill("C0DE-DONE")
    home.get_by_label("Code: screened out").fill("C0DE-OUT")
    home.get_by_label("Code: returned or out of time").fill("C0DE-BACK")
    home.get_by_label("Way back: done").fill("https://panel.example/complete?cc=1&id={id}")
    home.locator("summary", has_text="Payment").click()
    home.get_by_label("Amount for people who are done").fill("1.50")
    home.get_by_role("button", name="Save link").click()
    expect(home.get_by_text(f"{site}/c/ferries")).to_be_visible()
    home.goto(f"/p/small/annotate/{campaign.pk}/")
    home.get_by_role("button", name="Open campaign").click()
    expect(home.get_by_text("0 of 16 answers")).to_be_visible()

    # One comes, agrees, answers, rates by keyboard, and gets the code.
    page = participant_page(browser, site, "ann-1")
    expect(page.get_by_text("We ask you to rate texts.")).to_be_visible()
    assert not Participant.objects.exists()
    page.get_by_role("button", name="I agree and take part").click()
    page.get_by_label("yes").check()
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_text("0 of 3")).to_be_visible()
    rate_one(page)

    # They come back in another browser, at the same place, and finish there.
    again = participant_page(browser, site, "ann-1")
    expect(again.get_by_text("1 of 3")).to_be_visible()
    rate_one(again)
    rate_one(again)
    again.get_by_role("link", name="Continue").click()
    again.get_by_label("What was hard?").fill("Nothing.")
    again.get_by_role("button", name="Finish").click()
    expect(again.get_by_text("C0DE-DONE")).to_be_visible()
    again.context.grant_permissions(["clipboard-read", "clipboard-write"])
    again.get_by_role("button", name="Copy code").click()
    expect(again.get_by_role("button", name="Copied")).to_be_visible()
    assert again.evaluate("navigator.clipboard.readText()") == "C0DE-DONE"
    way_back = again.get_by_role("link", name="Go back to where you came from")
    assert way_back.get_attribute("href") == "https://panel.example/complete?cc=1&id=ann-1"

    # One is not wanted, one leaves.
    other = participant_page(browser, site, "bob-2")
    other.get_by_role("button", name="I agree and take part").click()
    other.get_by_label("no", exact=True).check()
    other.get_by_role("button", name="Start").click()
    expect(other.get_by_text("C0DE-OUT")).to_be_visible()
    leaving = participant_page(browser, site, "eve-3")
    leaving.get_by_role("button", name="I agree and take part").click()
    leaving.get_by_label("yes").check()
    leaving.get_by_role("button", name="Start").click()
    expect(leaving.locator("[data-task]")).to_be_visible()
    leaving.get_by_role("link", name="Leave the study").click()
    leaving.get_by_role("button", name="Leave the study").click()
    expect(leaving.get_by_text("C0DE-BACK")).to_be_visible()

    # The owner sees them and downloads what to pay.
    home.goto(f"/p/small/annotate/{campaign.pk}/participants/")
    for state in ("Done", "Returned", "Screened out: their group is full or not wanted"):
        expect(home.get_by_role("cell", name=state, exact=True)).to_be_visible()
    with home.expect_download() as download:
        home.get_by_role("link", name="Payment file").click()
    download.value.save_as(tmp_path / "payments.csv")
    rows = list(csv.DictReader((tmp_path / "payments.csv").open()))
    assert [(row["id"], row["state"], row["items"], row["amount"]) for row in rows] == [
        ("ann-1", "done", "3", "1.50"),
        ("bob-2", "screened", "0", "0.00"),
        ("eve-3", "returned", "0", "0.00"),
    ]

    person = Participant.objects.get(external_id="ann-1")
    assert person.after == {"What was hard?": "Nothing."}
    assert list(Rating.objects.values_list("score", flat=True)) == [4.0] * 3
    assert not Assignment.objects.filter(state="reserved").exists()
    assert sum(campaign.items.values_list("places", flat=True)) == 13
    assert OpenLink.objects.get().people == 2
