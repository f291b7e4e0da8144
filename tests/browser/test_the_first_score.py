"""From “New judge” to the first score in a browser, with a worker: counted clicks, the prompt
edited and kept, on a desk and on a phone; axe finds nothing serious on the way."""

import os
from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from evaluations.models import Judge, Project
from tests.browser.clicks import Clicks
from tests.browser.conftest import serious
from tests.processes import StandInProcess, WorkerProcess

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.browser, pytest.mark.processes]
MODEL = "offline-stand-in"
# New judge, List models, the model, Create judge, Try judge; the provider is one more.
CLICKS_TO_THE_FIRST_SCORE = 6
WIDER = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (375, "dark")])
def test_six_clicks_lead_from_new_judge_to_the_first_score(
    small_project: Project,
    start_standin: Callable[..., StandInProcess],
    start_worker: Callable[..., WorkerProcess],
    owner: User,
    sign_in: Callable[[str], Page],
    width: int,
    scheme: str,
) -> None:
    start_worker()
    clicks, page = Clicks(), sign_in("olga")
    page.set_viewport_size({"width": width, "height": 800})
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]

    def look(name: str) -> None:
        assert serious(page) == []
        assert page.evaluate(WIDER) == 0
        if shots := os.environ.get("SHOTS"):
            page.screenshot(path=f"{shots}/{name}-{width}-{scheme}.png", full_page=True)

    page.goto("/p/small/judges/")
    clicks.on(page.get_by_role("link", name="New judge"))
    look("new-judge")
    clicks.choose(page.get_by_label("Provider"), "vllm")
    expect(page.get_by_label("Base URL")).to_have_value("http://localhost:8000/v1")
    page.get_by_label("Base URL").fill(start_standin().base_url)
    clicks.on(page.get_by_role("button", name="List models"))
    model = page.get_by_label("Model", exact=True)
    expect(model).to_be_focused(timeout=60_000)
    expect(page.locator("datalist option")).to_have_attribute("value", MODEL)
    look("models-listed")
    # The list that a browser opens is outside of the page; choosing from it is a click.
    model.fill(MODEL)
    clicks.count += 1
    clicks.on(page.get_by_role("button", name="Create judge"))
    expect(page.get_by_text("G-Eval is created. Try it on an item")).to_be_visible(timeout=60_000)
    clicks.on(page.get_by_role("button", name="Try judge"))
    score = page.locator("#tried td[data-label=Score] strong")
    expect(score).to_be_visible(timeout=60_000)
    assert clicks.count == CLICKS_TO_THE_FIRST_SCORE
    look("tried")

    page.get_by_text("Edit the prompt").click()
    page.get_by_label("Definition of the criterion").fill("Is it a haiku?")
    page.get_by_label("Second item").select_option(index=2)
    page.get_by_role("button", name="Try judge").click()
    expect(score).to_have_count(2, timeout=60_000)
    expect(page.locator("#tried pre.asked").first).to_contain_text("Is it a haiku?")
    expect(page.get_by_label("Definition of the criterion")).to_be_visible()
    look("tried-again")
    page.get_by_role("button", name="Save as a new version").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("G-Eval (version 2)")
    assert Judge.objects.filter(retired_at=None).get().settings["wording"].count("haiku") == 1
