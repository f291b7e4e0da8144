"""From an upload to a promise, and from a later upload to the line of a week; axe finds nothing
serious on the way."""

from collections.abc import Callable
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from assurance.keeping.using import decide_new_outputs
from evaluations.models import Project
from tests.assurance.keeping.conftest import DOCUMENTS, files
from tests.browser.conftest import serious

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.browser, pytest.mark.processes]
WIDER = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


def upload(page: Page, folder: Path, given: dict[str, str]) -> None:
    for name, text in given.items():
        (folder / name).write_text(text)
    page.goto("/p/small/data/upload/")
    page.get_by_label("Files").set_input_files([folder / name for name in given])
    page.get_by_role("button", name="Check data").click()
    page.get_by_role("button", name="Load data").click()
    expect(page.get_by_role("status")).to_contain_text("outputs")


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (375, "dark")])
def test_a_promise_is_proven_used_and_watched(
    owner: User,
    project: Project,
    sign_in: Callable[[str], Page],
    tmp_path: Path,
    width: int,
    scheme: str,
) -> None:
    page = sign_in("olga")
    page.set_viewport_size({"width": width, "height": 800})
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    upload(page, tmp_path, files(range(DOCUMENTS)))

    page.goto("/p/small/judges/")
    page.get_by_role("link", name="judge", exact=True).click()
    page.get_by_role("link", name="Policy", exact=True).click()
    assert serious(page) == []
    page.get_by_label("Also by").select_option("language")
    page.get_by_role("button", name="Ask", exact=True).click()
    expect(page.get_by_text("of its answers:")).to_be_visible()
    expect(page.get_by_role("heading", name="By language")).to_be_visible()
    assert serious(page) == []
    page.get_by_role("button", name="Use this policy").click()
    expect(page.get_by_role("heading", name="In use")).to_be_visible()

    upload(page, tmp_path, files(range(1000, 1100), seed=3, rated=False))
    decide_new_outputs()  # as a worker does within a minute
    page.goto("/p/small/judges/")
    page.get_by_role("link", name="judge", exact=True).click()
    page.get_by_role("link", name="Policy", exact=True).click()

    week = page.get_by_role("region", name="Weeks").get_by_role("row").last
    expect(week).to_contain_text("200")
    expect(page.get_by_text("The promise is not contradicted")).to_be_visible()
    assert serious(page) == []
    assert page.evaluate(WIDER) <= 0
    page.get_by_role("link", name="To people: judge on right").click()
    expect(page.get_by_role("heading", name="To people: judge on right")).to_be_visible()
