"""In a real browser: upload, make a judge, run it with a real worker, and read the report."""

from collections.abc import Callable
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from tests.conftest import OUTPUTS, RATINGS
from tests.processes import StandInProcess, WorkerProcess

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.browser, pytest.mark.processes]


def test_from_an_upload_to_correlations(
    owner: User,
    sign_in: Callable[[str], Page],
    start_standin: Callable[..., StandInProcess],
    start_worker: Callable[[], WorkerProcess],
    tmp_path: Path,
) -> None:
    start_worker()
    files = [tmp_path / "outputs.jsonl", tmp_path / "ratings.csv"]
    for path, content in zip(files, (OUTPUTS, RATINGS), strict=True):
        path.write_text(content)
    page = sign_in("olga")

    page.get_by_role("link", name="Small").first.click()
    page.get_by_role("link", name="Data", exact=True).click()
    page.get_by_role("link", name="Upload").first.click()
    page.get_by_label("Files").set_input_files(files)
    page.get_by_role("button", name="Check data").click()
    page.get_by_role("button", name="Load data").click()
    expect(page.get_by_role("status")).to_contain_text("6 outputs")

    page.get_by_role("link", name="Judges", exact=True).click()
    page.get_by_role("link", name="New endpoint").click()
    page.get_by_label("Base URL").fill(start_standin().base_url)
    page.get_by_role("button", name="Save endpoint").click()
    page.get_by_label("Model").fill("offline-stand-in")
    page.get_by_role("button", name="Probe").click()
    expect(page.get_by_role("table").last).to_contain_text("20 per token", timeout=60_000)
    page.get_by_role("link", name="New judge").click()
    page.get_by_label("Name", exact=True).fill("Judge Judy")
    page.get_by_label("Model").fill("offline-stand-in")
    page.get_by_role("button", name="Create judge").click()

    page.get_by_role("link", name="Start a run").click()
    page.get_by_role("button", name="Start run").click()
    expect(page.locator("#progress")).to_contain_text("12 of 12", timeout=60_000)
    expect(page.locator("#progress")).to_contain_text("Done")

    expect(page.locator("#progress")).to_contain_text("Results")
    page.get_by_role("link", name="Items").click()
    page.locator("tbody a").first.click()
    expect(page.get_by_role("heading", name="Distribution over the scale")).to_be_visible()
    page.get_by_role("button", name="Explain this score").click()
    expect(page.get_by_text("wrote this afterwards")).to_be_visible(timeout=60_000)

    page.get_by_role("link", name="Report", exact=True).first.click()
    expect(page.get_by_role("table").first).to_contain_text("Judge Judy")
    page.get_by_role("link", name="Evidence").first.click()
    page.get_by_text("Charts to explore").click()
    page.locator("[data-figure]").first.scroll_into_view_if_needed()
    expect(page.locator(".chart .plot-container").first).to_be_visible()
    expect(page.locator(".chart").first.locator(".scatterlayer .point")).to_have_count(6)
