"""From a judge to a proven better one, in a browser; axe finds nothing serious on the way."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from assurance.improving.work import work_on_search
from evaluations.models import Judge, Project, Search
from tests.browser.conftest import serious

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.browser, pytest.mark.processes]


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (375, "dark")])
def test_documents_are_locked_a_change_is_found_and_looked_at(
    rated_project: Project,
    judge: Judge,
    owner: User,
    sign_in: Callable[[str], Page],
    width: int,
    scheme: str,
) -> None:
    page = sign_in("olga")
    page.set_viewport_size({"width": width, "height": 800})
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]

    page.goto("/p/small/judges/")
    page.get_by_role("link", name=judge.label, exact=True).click()
    page.get_by_role("link", name="Improve", exact=True).click()
    assert serious(page) == []
    page.get_by_role("button", name="Lock documents").click()
    page.get_by_role("button", name="Search").click()
    expect(page.get_by_text("Searching for changes of")).to_be_visible()
    work_on_search(Search.objects.get().pk)
    expect(page.get_by_text("Not looked at").first).to_be_visible(timeout=20_000)
    page.get_by_role("button", name="Test on locked documents (1 of 5)").first.click()
    # Which documents are locked is drawn anew, so this may prove the change or not.
    expect(page.get_by_text("locked documents, 99.0% interval")).to_be_visible()
    expect(page.get_by_role("img", name="1 of 5 looks used")).to_be_visible()

    assert serious(page) == []
    wider = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert page.evaluate(wider) <= 0
