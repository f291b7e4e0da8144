"""In a real browser, by keyboard alone: what the database holds afterwards is exactly what was
done."""

from collections.abc import Callable, Iterable
from typing import Any

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import BrowserContext, Page, expect

from annotations.models import (
    AnswerChange,
    Assignment,
    AssignmentState,
    Campaign,
    CampaignKind,
    ItemOrder,
    Preference,
    Rating,
    Span,
)
from annotations.planning.campaigns import open_campaign, seat_annotators
from evaluations.models import CandidateOutput, Document, Membership, Project, Role, System
from tests.conftest import wait_until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.browser, pytest.mark.processes]
CRITERIA = ("coherence", "consistency", "fluency", "relevance")


@pytest.fixture
def corpus(project: Project) -> Project:
    """Six documents, four systems, four criteria."""
    systems = [
        System.objects.create(project=project, name=f"system-{number}") for number in range(4)
    ]
    for number in range(6):
        document = Document.objects.create(
            project=project,
            doc_id=f"d{number}",
            source=(
                f"Ferry number {number} sails from the harbour at noon. Nobody expected a storm"
                " that day. Passengers waited inside the small building."
            ),
        )
        CandidateOutput.objects.bulk_create(
            CandidateOutput(
                document=document,
                system=system,
                text=(
                    f"Ferry number {number} sails at noon from the harbour."
                    f" {system.name.capitalize()} wrote this."
                ),
            )
            for system in systems
        )
    for position, name in enumerate(CRITERIA):
        project.criteria.create(name=name, definition=f"How good the {name} is.", position=position)
    return project


@pytest.fixture
def ann(make_user: Callable[..., User], corpus: Project) -> User:
    user = make_user("ann")
    Membership.objects.create(project=corpus, user=user, role=Role.ANNOTATOR)
    return user


def campaign_for(
    user: User, project: Project, criteria: Iterable[str] = (), **fields: Any
) -> Campaign:
    campaign = Campaign.objects.create(
        project=project, **{"name": "Campaign", "overlap": 1} | fields
    )
    if campaign.is_rating:
        campaign.criteria.set(project.criteria.all())
    elif criteria:
        campaign.criteria.set(project.criteria.filter(name__in=criteria))
    seat_annotators(campaign, [user])
    open_campaign(campaign)
    return campaign


def task_address(campaign: Campaign) -> str:
    return f"/p/{campaign.project.slug}/annotate/{campaign.pk}/task/"


def current(page: Page) -> int:
    return int(page.locator("[data-task]").get_attribute("data-assignment") or 0)


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def wait_for_another(page: Page, assignment: int) -> None:
    page.wait_for_function(
        "before => document.querySelector('[data-task]')?.dataset.assignment !== String(before)",
        arg=assignment,
    )


def answers(campaign: Campaign) -> dict[int, dict[str, Any]]:
    submitted = Assignment.objects.filter(campaign=campaign, state=AssignmentState.SUBMITTED)
    return {assignment.pk: assignment.answer or {} for assignment in submitted}


def test_rating_twenty_outputs_with_everything_that_can_happen(
    ann: User, corpus: Project, sign_in: Callable[[str], Page], context: BrowserContext
) -> None:
    campaign = campaign_for(ann, corpus)
    keys = [str(pk) for pk in campaign.criteria.values_list("pk", flat=True)]
    page = sign_in("ann")
    page.goto(task_address(campaign))
    done: dict[int, list[int]] = {}
    comments: dict[int, str] = {}
    flagged: set[int] = set()

    def rate(scores: list[int]) -> int:
        assignment = current(page)
        press(page, *map(str, scores))
        done[assignment] = scores
        press(page, "Enter")
        wait_for_another(page, assignment)
        return assignment

    # Five keystrokes an output.
    for number in range(5):
        rate([1 + (number + k) % 5 for k in range(4)])

    # A comment and a flag.
    assignment = current(page)
    press(page, "c")
    page.keyboard.type("An odd one, 5 of 5")
    press(page, "Escape", "f")
    comments[assignment] = "An odd one, 5 of 5"
    flagged.add(assignment)
    rate([5, 4, 3, 2])

    # Skipped with a reason.
    skipped = current(page)
    press(page, "s")
    page.keyboard.type("The text is broken")
    press(page, "Enter")
    wait_for_another(page, skipped)

    # An incomplete answer goes nowhere and says what is missing.
    incomplete = current(page)
    press(page, "4", "4", "Enter")
    expect(page.get_by_role("alert")).to_contain_text("fluency")
    assert current(page) == incomplete
    # A reload in the middle: what was typed is there.
    page.reload()
    assert current(page) == incomplete
    expect(page.locator("#stage input:checked")).to_have_count(2)
    done[incomplete] = [4, 4, 1, 2]
    press(page, "1", "2", "Enter")
    wait_for_another(page, incomplete)

    # Back to the one before, changed by digits.
    left = current(page)
    press(page, "u")
    wait_for_another(page, left)
    assert current(page) == incomplete
    expect(page.get_by_text("submitted, you can still change it")).to_be_visible()
    page.locator("[data-question]").nth(2).locator("input:checked").focus()
    press(page, "5")
    done[incomplete] = [4, 4, 5, 2]
    press(page, "Enter")
    wait_for_another(page, incomplete)
    assert current(page) == left

    # The network goes away: what is loaded can be done, the rest waits.
    page.wait_for_timeout(500)
    context.set_offline(True)
    for number in range(2):
        rate([2, 3, 4, 1 + number])
    expect(page.get_by_text("No connection")).to_be_visible()
    waiting = Assignment.objects.filter(campaign=campaign, state=AssignmentState.SUBMITTED).count()
    assert waiting == len(done) - 2
    press(page, "3", "3")  # typed without a network
    context.set_offline(False)
    page.evaluate("dispatchEvent(new Event('online'))")
    wait_until(lambda: len(answers(campaign)) == len(done), seconds=15)

    # A reload straight after submitting loses nothing.
    last = current(page)
    press(page, "1", "2")  # with the two digits typed above: 3, 3, 1, 2
    done[last] = [3, 3, 1, 2]
    press(page, "Enter")
    page.reload()
    wait_until(lambda: last in answers(campaign), seconds=15)
    page.goto(task_address(campaign))

    while len(done) < 20:
        rate([1 + (len(done) * 7 + k * 3) % 5 for k in range(4)])
    wait_until(lambda: len(answers(campaign)) == len(done), seconds=15)

    stored = answers(campaign)
    assert {pk: [answer["scores"][key] for key in keys] for pk, answer in stored.items()} == done
    assert {pk: answer["comment"] for pk, answer in stored.items() if answer["comment"]} == comments
    assert set(Assignment.objects.filter(flagged=True).values_list("pk", flat=True)) == flagged
    assert Assignment.objects.get(pk=skipped).skip_reason == "The text is broken"
    changes = AnswerChange.objects.all()
    assert [
        (c.assignment_id, c.before["scores"][keys[2]], c.after["scores"][keys[2]]) for c in changes
    ] == [(incomplete, 1, 5)]
    assert all(change.user == ann for change in changes)
    rated = {
        (a.shown[0], int(key)): score
        for a in Assignment.objects.filter(pk__in=done)
        for key, score in zip(keys, done[a.pk], strict=True)
    }
    in_table = {(r.output_id, r.criterion_id): r.score for r in Rating.objects.all()}
    assert in_table == rated


def test_comparing_twenty_pairs(ann: User, corpus: Project, sign_in: Callable[[str], Page]) -> None:
    campaign = campaign_for(ann, corpus, kind=CampaignKind.PAIRWISE, order=ItemOrder.RANDOM)
    page = sign_in("ann")
    page.goto(task_address(campaign))
    done: dict[int, int] = {}

    press(page, "d")
    expect(page.get_by_role("button", name="Hide differences")).to_be_visible()
    press(page, "o")
    expect(page.locator("[data-source]")).to_be_visible()
    for number in range(20):
        assignment = current(page)
        key, value = [("1", 1), ("2", -1), ("0", 0)][number % 3]
        press(page, key, "Enter")
        done[assignment] = value
        wait_for_another(page, assignment)
    wait_until(lambda: len(answers(campaign)) == 20, seconds=15)

    assert {pk: answer["choices"]["0"] for pk, answer in answers(campaign).items()} == done
    expected = {}
    for a in Assignment.objects.filter(pk__in=done):
        left, right = a.shown
        expected[min(left, right), max(left, right)] = (
            done[a.pk] if left < right else -done[a.pk],
            left < right,
        )
    stored = {
        (p.output_a_id, p.output_b_id): (p.value, p.a_was_left) for p in Preference.objects.all()
    }
    assert stored == expected
    assert {was_left for _, was_left in stored.values()} == {True, False}


def test_ranking_by_keys_and_marking_words(
    ann: User, corpus: Project, sign_in: Callable[[str], Page]
) -> None:
    ranking = campaign_for(ann, corpus, name="Ranking", kind=CampaignKind.RANKING, group_size=3)
    spans = campaign_for(
        ann,
        corpus,
        name="Spans",
        span_categories=["Fabrication", "Omission"],
        span_severities=["minor", "major"],
    )
    page = sign_in("ann")

    page.goto(task_address(ranking))
    first = current(page)
    press(page, "2", "1", "3", "Enter")
    wait_for_another(page, first)
    second = current(page)
    page.locator("[data-output]").nth(2).focus()
    press(page, "Alt+ArrowUp", "Alt+ArrowUp", "Enter")
    wait_for_another(page, second)
    wait_until(lambda: len(answers(ranking)) == 2, seconds=15)
    page.goto(task_address(spans))
    marked = current(page)
    press(page, "w", "Shift+ArrowRight", "Enter", "3", "3", "3", "3", "Enter")
    wait_for_another(page, marked)
    wait_until(lambda: len(answers(spans)) == 1, seconds=15)

    shown = {a.pk: a.shown for a in Assignment.objects.filter(campaign=ranking)}
    ranks = {pk: answer["ranks"]["0"] for pk, answer in answers(ranking).items()}
    assert [ranks[first][str(pk)] for pk in shown[first]] == [2, 1, 3]
    assert [ranks[second][str(pk)] for pk in shown[second]] == [2, 3, 1]
    span = Span.objects.get()
    assert span.quote == span.output.text[span.start : span.end] == "Ferry number"
    assert (span.category, span.severity) == ("Fabrication", "minor")


def test_it_works_without_scripts(ann: User, corpus: Project, browser: Any, site: str) -> None:
    campaign = campaign_for(ann, corpus)
    context = browser.new_context(base_url=site, java_script_enabled=False)
    page = context.new_page()
    page.goto("/sign-in/")
    page.get_by_label("Username").fill("ann")
    page.get_by_label("Password").fill("secret-of-ann")
    page.get_by_role("button", name="Sign in").click()

    page.goto(task_address(campaign))
    page.get_by_role("button", name="Submit").click()
    expect(page.get_by_role("alert")).to_contain_text("Rate coherence")
    for question in page.locator("fieldset.question").all():
        question.get_by_role("radio").nth(3).check(force=True)
    page.get_by_role("button", name="Submit").click()
    expect(page.locator("[data-done]")).to_contain_text("1 of")
    context.close()

    assert sorted(Rating.objects.values_list("score", flat=True)) == [4, 4, 4, 4]
