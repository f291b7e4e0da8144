"""In a real browser: a new project, a table as it comes from somewhere else, and its report."""

from collections.abc import Callable
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from evaluations.models import Project
from tests.browser.clicks import Clicks

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.browser, pytest.mark.processes]
MOST_CLICKS = 5
HEADER = "Nr;Vorlage;Zusammenfassung;Modell;Anna;Bert;Clara;gpt-4o"


def made_up_table() -> str:
    lines = [HEADER]
    for number in range(36):
        document, system = divmod(number, 3)
        source = (
            f"Die Fähre {document} nach Sandvik fährt seit dem Morgen wieder, sagt die Reederei."
        )
        output = f"Fähre {document} fährt wieder, so Modell {system} in einem Satz."
        quality = 1 + (document + 2 * system) % 5
        ratings = [quality, min(5, quality + document % 2), max(1, quality - system % 2), quality]
        cells = [document, source, output, f"modell-{system}", *ratings]
        lines.append(";".join(map(str, cells)))
    return "\n".join(lines) + "\n"


def test_raters_as_columns_become_a_report_in_few_clicks(
    owner: User, project: Project, sign_in: Callable[[str], Page], tmp_path: Path
) -> None:
    path = tmp_path / "urteile.csv"
    path.write_text(made_up_table())
    page = sign_in("olga")
    page.goto("/new/")
    page.get_by_label("Name", exact=True).fill("Fähren")
    page.get_by_role("button", name="Create project").click()
    clicks = Clicks()

    clicks.on(page.get_by_role("link", name="Upload data").first)
    clicks.choose_file(page.get_by_label("Files"), path)
    clicks.on(page.get_by_role("button", name="Check data"))
    expect(page.get_by_role("status")).to_contain_text("Ready to load.")
    expect(page.get_by_label("Scale of overall")).to_have_value("1-5")
    expect(page.locator(".who")).to_contain_text("gpt-4o 36")
    clicks.on(page.get_by_role("button", name="Load data"))
    expect(page.get_by_role("status")).to_contain_text("36 outputs, 108 ratings, 36 scores")
    assert clicks.count <= MOST_CLICKS

    page.get_by_role("link", name="Report", exact=True).first.click()
    expect(page.get_by_role("table").first).to_contain_text("gpt-4o")
