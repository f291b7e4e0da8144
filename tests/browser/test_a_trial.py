"""A trial of ten items in a browser, with a worker: replies that cannot be read, the button that
changes the judge, and the trial of its new version; axe finds nothing serious on the way."""

import os
from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from evaluations.models import Judge, Project
from tests.browser.conftest import serious
from tests.processes import WorkerProcess

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.browser, pytest.mark.processes]


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (375, "dark")])
def test_a_judge_that_cannot_be_read_is_tried_changed_and_tried_again(
    small_project: Project,
    make_judge: Callable[..., Judge],
    start_worker: Callable[..., WorkerProcess],
    owner: User,
    sign_in: Callable[[str], Page],
    width: int,
    scheme: str,
) -> None:
    make_judge(small_project, "--unparseable-rate", "0.7", use_steps=False)
    start_worker()
    page = sign_in("olga")
    page.set_viewport_size({"width": width, "height": 800})
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    wider = "document.documentElement.scrollWidth - document.documentElement.clientWidth"

    page.goto("/p/small/runs/")
    page.get_by_role("button", name="Try ten items first").click()
    expect(page.get_by_role("heading", name="Trial items")).to_be_visible()
    expect(page.get_by_text("of 10 items failed")).to_be_visible(timeout=60_000)
    assert serious(page) == []
    assert page.evaluate(wider) == 0
    if shots := os.environ.get("SHOTS"):
        page.screenshot(path=f"{shots}/trial-{width}-{scheme}.png", full_page=True)

    page.get_by_role("button", name="Change to samples and try again").click()

    expect(page.get_by_text("is created; this is its trial")).to_be_visible()
    expect(page.locator("h1")).to_contain_text("Stand-in")
    expect(page.get_by_role("button", name="Judge the rest")).to_be_visible(timeout=60_000)
    if shots:
        page.screenshot(path=f"{shots}/trial-again-{width}-{scheme}.png", full_page=True)
