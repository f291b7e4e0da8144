"""Figures show the numbers of a mark where it is pointed at or reached by keyboard, with no script
at all, and name none before."""

from collections.abc import Callable
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Browser, Page, expect

from evaluations.corpus.store import load_files
from evaluations.models import Project
from geval.files.readers import InputFile

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.browser, pytest.mark.processes]


@pytest.fixture
def summeval(owner: User, small_project: Project, benchmarks: Path) -> Project:
    files = sorted((benchmarks / "summeval").iterdir())
    small_project.documents.all().delete()
    small_project.criteria.all().delete()
    load_files(small_project, [InputFile(path, path.name) for path in files])
    return small_project


def test_a_mark_that_is_pointed_at_or_focused_says_its_numbers_without_scripts(
    summeval: Project,
    sign_in: Callable[[str], Page],
    browser: Browser,
    site: str,
) -> None:
    signed_in = sign_in("olga")
    context = browser.new_context(
        base_url=site,
        java_script_enabled=False,
        storage_state=signed_in.context.storage_state(),
    )
    page = context.new_page()
    page.goto("/p/small/report/numbers/")
    page.locator("details.fold > summary", has_text="Figures").click()
    forest = page.locator("#figures .drawing").first
    marks = forest.locator(".drawn-mark")
    first, second = (marks.nth(at).locator(".read-out") for at in (0, 1))

    expect(forest.locator(".read-out-help")).to_be_visible()
    expect(first).to_be_hidden()
    marks.nth(0).locator("circle").hover()
    expect(first).to_be_visible()
    expect(first).to_have_text("one rater: 0.68 [0.65, 0.71]")
    expect(forest.locator(".read-out-help")).to_be_hidden()

    page.mouse.move(0, 0)
    marks.nth(0).focus()
    expect(first).to_be_visible()
    page.keyboard.press("Tab")
    expect(second).to_be_visible()
    expect(second).to_contain_text("gpt-4o: 0.54 [0.48, 0.58]")
    expect(first).to_be_hidden()
    context.close()
