"""Four of the thirty tasks of new users with the clicks that each takes (see
tests/browser/test_tasks_of_a_lead.py): those of somebody who looks at what judges get wrong."""

import pytest
from playwright.sync_api import Page, expect

from annotations.models import Rating
from evaluations.judging.runs import leases
from evaluations.models import Endpoint, GapCause, Judge, Project
from geval.llm.scoring import Scored
from tests.browser.clicks import Clicks
from tests.browser.test_tasks_of_a_researcher import endpoint, finished_run, judge_named, lab

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.browser, pytest.mark.processes]
__all__ = ["endpoint", "lab"]  # fixtures


@pytest.fixture(scope="module")
def judy(lab: Project, endpoint: Endpoint) -> Judge:
    """A judge near people; the worst gap is on d07 by s3."""
    judge = judge_named(endpoint, "Judy")
    human = dict(Rating.objects.values_list("output_id", "score"))
    worst = lab.documents.get(doc_id="d07").outputs.get(system__name="s3").pk

    def outcome(item: leases.ClaimedItem) -> Scored:
        score = 1.0 if item.output_id == worst else float(human[item.output_id])
        return Scored(score, {score: 1.0}, 0.97)

    finished_run(judge, outcome)
    return judge


def test_find_the_largest_disagreement_read_its_text_and_name_its_cause(
    home: Page, judy: Judge
) -> None:
    clicks = Clicks(at_most=2)

    clicks.on(
        home.get_by_role("link", name="Report", exact=True),
        home.get_by_role("link", name="Look at disagreements"),
    )
    case = home.locator("#case")
    expect(case.get_by_role("heading", name="s3 on d07")).to_be_visible()
    expect(case.get_by_text("Output 7 of 3")).to_be_visible()
    home.wait_for_load_state("load")
    home.keyboard.press("3")

    expect(home.get_by_text("s3 on d07: criterion is vague.")).to_be_visible()
    assert GapCause.objects.filter(cause="criterion is vague").exists()


def test_make_an_output_an_example_of_the_judge(home: Page, judy: Judge) -> None:
    clicks = Clicks(at_most=4)

    clicks.on(
        home.get_by_role("link", name="Report", exact=True),
        home.get_by_role("link", name="Look at disagreements"),
        home.get_by_role("button", name="Judge is wrong"),
    )
    clicks.on(home.get_by_role("button", name="Use as example"))

    expect(home.get_by_role("status")).to_contain_text("example")


def test_see_what_a_judge_was_asked(home: Page, judy: Judge) -> None:
    clicks = Clicks(at_most=3)

    clicks.on(
        home.get_by_role("link", name="Report", exact=True),
        home.get_by_role("link", name="Look at disagreements"),
        home.locator("#case").get_by_role("link", name="Prompt"),
    )

    expect(home.locator("pre.prompt").first).to_contain_text("The ferry sails")


def test_compare_two_judges(home: Page, judy: Judge) -> None:
    clicks = Clicks(at_most=2)

    clicks.on(
        home.get_by_role("link", name="Report", exact=True),
        home.get_by_role("link", name="Compare judges"),
    )

    expect(home.get_by_role("heading", name="Judy against far")).to_be_visible()
    expect(home.locator(".lead")).to_contain_text("Judy")
