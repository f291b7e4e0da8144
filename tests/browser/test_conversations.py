"""A whole session, rated turn by turn by keyboard, on a desk and on a phone."""

import json
from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from annotations.models import Campaign, ItemOrder, Rating
from annotations.planning.campaigns import open_campaign, seat_annotators
from evaluations.corpus.store import LoadResult
from evaluations.models import Membership, Project, Role
from tests.conftest import wait_until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.browser, pytest.mark.processes]
LONG = "08:10 Sandvik\n" * 40
TURNS = [
    {"role": "user", "text": "When does the ferry leave?"},
    {"role": "assistant", "text": "Let me see.", "tool_calls": [
        {"name": "timetable", "arguments": '{"from": "Sandvik"}', "result": LONG}]},
    {"role": "user", "text": "متى تغادر العبّارة؟"},
    {"role": "assistant", "text": "At 08:10 and 09:40."},
    {"role": "user", "text": "Thanks."},
    {"role": "assistant", "text": "You are welcome."},
]  # fmt: skip


@pytest.fixture
def campaign(
    make_user: Callable[..., User], project: Project, load: Callable[..., LoadResult]
) -> Campaign:
    user = make_user("ann")
    Membership.objects.create(project=project, user=user, role=Role.ANNOTATOR)
    session = {"session_id": "s", "system_id": "bot", "rate": "assistant", "turns": TURNS}
    load(project, {"said.jsonl": json.dumps(session)})
    project.criteria.create(name="helpfulness")
    made = Campaign.objects.create(
        project=project, name="C", overlap=1, order=ItemOrder.DOCUMENT, span_categories=["wrong"]
    )
    made.criteria.set(project.criteria.all())
    seat_annotators(made, [user])
    open_campaign(made)
    return made


@pytest.mark.parametrize("width", [1280, 375])
def test_a_session_is_rated_turn_by_turn_by_keyboard(
    campaign: Campaign, sign_in: Callable[[str], Page], width: int
) -> None:
    page = sign_in("ann")
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(f"/p/small/annotate/{campaign.pk}/task/")

    for number, score in ((2, "4"), (4, "2"), (6, "5")):
        expect(page.locator(".rated-label").first).to_have_text(f"turn {number}")
        assert page.locator("[data-source] [data-turn]").count() == number - 1
        page.keyboard.press("[")
        expect(page.locator(f"[data-source] [data-turn][value='{number - 1}']")).to_be_focused()
        if number > 2:
            page.keyboard.press("[")
            expect(page.locator(f"[data-turn][value='{number - 2}']")).to_be_focused()
        if width < 800:
            page.keyboard.press("o")
        page.keyboard.press(score)
        page.keyboard.press("Enter")
    expect(page.get_by_text("All done.")).to_be_visible()

    wait_until(lambda: Rating.objects.count() == 3)
    given = Rating.objects.order_by("output__document__turns_before")
    assert [(one.output.document.doc_id, one.score) for one in given] == [
        ("s#2", 4), ("s#4", 2), ("s#6", 5),
    ]  # fmt: skip
