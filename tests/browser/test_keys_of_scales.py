"""In a real browser: a digit chooses the point of its number and no other, on scales of all
kinds."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from annotations.models import Assignment, Campaign
from annotations.planning.campaigns import open_campaign, seat_annotators
from evaluations.models import CandidateOutput, Document, Membership, Project, Role, System
from tests.conftest import wait_until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.browser, pytest.mark.processes]

# (lowest, highest, step), and which point each series of keys chooses; None: none.
SCALES = {
    (0, 1, 1): {"0": "0", "1": "1", "2": None},
    (1, 3, 1): {"1": "1", "3": "3", "4": None},
    (1, 5, 1): {"1": "1", "4": "4", "5": "5", "0": None, "6": None},
    (0, 5, 1): {"0": "0", "1": "1", "5": "5"},
    (1, 7, 1): {"7": "7", "8": None},
    (1, 10, 1): {"7": "7", "1": "1", "10": "10", "0": None},
    (0, 10, 1): {"0": "0", "7": "7", "1": "1", "10": "10", "9": "9"},
    (1, 5, 0.5): {"1": "1", "4": "4", "2": "2", "6": None},
    (-2, 2, 1): {"2": "2", "-2": "-2", "0": "0", "-1": "-1", "-3": None, "3": None},
    (0, 100, 10): {"0": "0", "10": "10", "100": "100", "5": None},
}
NOTHING_CHOSEN = """() => {
    for (const input of document.querySelectorAll("[data-question] input")) input.checked = false;
}"""


@pytest.fixture
def page_of(
    project: Project, make_user: Callable[..., User], sign_in: Callable[[str], Page]
) -> Callable[..., Page]:
    ann = make_user("ann")
    Membership.objects.create(project=project, user=ann, role=Role.ANNOTATOR)
    document = Document.objects.create(project=project, doc_id="d", source="A ferry sails.")
    system = System.objects.create(project=project, name="s")
    CandidateOutput.objects.create(document=document, system=system, text="It sails.")

    def open_page(*scales: tuple[float, float, float]) -> Page:
        for position, (lowest, highest, step) in enumerate(scales):
            project.criteria.create(
                name=f"criterion {position}",
                scale_min=lowest,
                scale_max=highest,
                scale_step=step,
                position=position,
            )
        campaign = Campaign.objects.create(project=project, name="Campaign", overlap=1)
        campaign.criteria.set(project.criteria.all())
        seat_annotators(campaign, [ann])
        open_campaign(campaign)
        page = sign_in("ann")
        page.goto(f"/p/{project.slug}/annotate/{campaign.pk}/task/")
        return page

    return open_page


def test_keys_choose_the_point_of_their_number(page_of: Callable[..., Page]) -> None:
    page = page_of(*SCALES)
    questions = page.locator("[data-question]")
    expect(questions).to_have_count(len(SCALES))

    for number, (scale, series) in enumerate(SCALES.items()):
        question = questions.nth(number)
        for keys, point in series.items():
            page.evaluate(NOTHING_CHOSEN)
            question.locator("input").first.focus()
            for key in keys:
                page.keyboard.press(key)
            chosen = page.locator("[data-question] input:checked")
            values = [chosen.nth(n).get_attribute("value") for n in range(chosen.count())]
            assert values == ([point] if point else []), (scale, keys)
            page.keyboard.press("Shift+Tab")  # the question is left, and with it a number begun


def test_long_scales_have_keys_and_a_slider(page_of: Callable[..., Page]) -> None:
    page = page_of((0, 100, 1), (0, 100, 1))
    first, second = page.locator("[data-question]").nth(0), page.locator("[data-question]").nth(1)
    expect(first.locator(".ends span")).to_have_text(["low", "high"])

    page.keyboard.type("73")
    expect(first.locator("input[type=number]")).to_have_value("73")
    expect(first.locator("input[type=range]")).to_have_value("73")
    page.keyboard.press("Enter")
    expect(second.locator("input[type=number]")).to_be_focused()
    # In the middle, where the slider is before it has a number.
    second.locator("input[type=range]").click()
    expect(second.locator("input[type=number]")).to_have_value("50")
    page.keyboard.type("5")
    page.keyboard.press("Enter")

    wait_until(lambda: Assignment.objects.filter(state="submitted").exists())
    answer = Assignment.objects.get().answer or {}
    assert list(answer["scores"].values()) == [73, 5]
