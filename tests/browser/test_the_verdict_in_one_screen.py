"""On SummEval the report answers in one screen which judge may rate what; the evidence of a
criterion fits on a short page, and both print on two sheets each."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from evaluations.corpus.store import load_files
from evaluations.models import Project
from geval.files.readers import InputFile

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.browser, pytest.mark.processes]
DESK = {"width": 1280, "height": 800}
MOST_HEIGHT, MOST_WORDS, MOST_NUMBERS = 1_400, 400, 80
MOST_EVIDENCE_HEIGHT = 2_500
MOST_SHEETS = 2


@pytest.fixture
def summeval(owner: User, small_project: Project, benchmarks: Path) -> Project:
    files = sorted((benchmarks / "summeval").iterdir())
    small_project.documents.all().delete()
    small_project.criteria.all().delete()
    load_files(small_project, [InputFile(path, path.name) for path in files])
    return small_project


def visible_text(page: Page) -> str:
    return str(page.locator("main").inner_text())


def height_of(page: Page) -> int:
    return int(page.evaluate("document.documentElement.scrollHeight"))


def sheets_of(page: Page) -> int:
    """How many A4 sheets a page prints on."""
    return len(re.findall(rb"/Type\s*/Page\b", page.pdf(format="A4")))


def test_the_verdicts_and_their_evidence_are_short(
    summeval: Project, sign_in: Callable[[str], Page]
) -> None:
    page = sign_in("olga")
    page.set_viewport_size(DESK)
    page.goto("/p/small/report/")
    expect(page.locator(".standings tbody tr")).to_have_count(4)
    text = visible_text(page)

    assert height_of(page) <= MOST_HEIGHT
    assert len(text.split()) <= MOST_WORDS
    assert len(re.findall(r"\d[\d\u202f.,]*", text)) <= MOST_NUMBERS
    assert sheets_of(page) <= MOST_SHEETS
    expect(page.locator(".lead")).to_contain_text("Coherence: gpt-4o with spot checks.")
    first = page.locator(".standings tbody tr").first
    expect(first.locator(".verdict")).to_have_text("Use with spot checks")
    expect(page.get_by_role("button", name="Publish")).to_be_in_viewport()

    first.get_by_role("rowheader").get_by_role("link").click()
    expect(page.get_by_role("heading", name="coherence", exact=True)).to_be_visible()

    assert height_of(page) <= MOST_EVIDENCE_HEIGHT
    for fold in page.locator("details.fold > summary").all():
        expect(fold).to_be_visible()
