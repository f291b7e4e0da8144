"""The report in a real browser: filters, drill-down, live update during a run, a link signed out,
every export."""

import csv
import io
import json
import re
from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Browser, Page, expect

from evaluations.judging.runs.starting import start_run
from evaluations.models import Judge, Project, RunState
from tests.conftest import wait_until
from tests.processes import WorkerProcess

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.browser, pytest.mark.processes]
REPORT = "/p/small/report/"
NUMBERS = f"{REPORT}numbers/"
# Megabytes of a chart library are read first; how long that takes is the machine's affair.
UNTIL_DRAWN_MS = 30_000
SCORES = "doc_id,system_id,criterion,judge,score\n" + "".join(
    f"d{d},{s},{c},imported,{v + d % 2}\n"
    for d in (1, 2, 3)
    for s, v in (("good", 3), ("odd", 2))
    for c in ("coherence", "fluency")
)


@pytest.fixture
def reported(owner: User, small_project: Project, load: Callable[..., object]) -> Project:
    load(small_project, {"scores.csv": SCORES})
    return small_project


def test_filters_drill_down_and_exports(reported: Project, sign_in: Callable[[str], Page]) -> None:
    page = sign_in("olga")
    page.goto(REPORT)

    expect(page.get_by_text("Coherence, fluency: it is too early to say.")).to_be_visible()
    page.get_by_text("Filters:").click()
    page.locator(".filters").get_by_label("level").select_option("system")
    page.get_by_label("document name contains").fill("d1")
    page.get_by_role("button", name="Apply filters").click()
    expect(page).to_have_url(re.compile("level=system.*documents=d1"))
    expect(page.get_by_text("system level, Spearman").first).to_be_visible()

    page.get_by_role("link", name="Clear filters").click()
    page.get_by_role("button", name="Publish").click()
    page.get_by_role("link", name="For the paper").first.click()
    page.locator(".paper tbody a").first.click()
    expect(page.get_by_role("heading", name="imported on coherence")).to_be_visible()
    page.locator("tbody a").first.click()
    expect(
        page.get_by_text("The 1. ferry").or_(page.get_by_text("ferry sails")).first
    ).to_be_visible()

    page.goto(REPORT)
    page.get_by_role("button", name="Publish").click()
    content = {}
    for name in ("CSV", "JSON", "Markdown", "LaTeX", "text"):
        with page.expect_download() as download:
            page.get_by_role("link", name=name, exact=True).click()
        content[name] = download.value.path().read_text()
    assert {row["judge"] for row in csv.DictReader(io.StringIO(content["CSV"]))} == {"imported"}
    assert json.loads(content["JSON"])["criteria"]["coherence"]["significance"]["letters"] == {
        "imported": "a"
    }
    assert "| imported |" in content["Markdown"]
    assert r"\toprule" in content["LaTeX"]
    page.goto(NUMBERS)
    page.get_by_text("Charts to explore").click()
    page.locator("[data-figure]").first.scroll_into_view_if_needed()
    expect(page.locator("[data-figure] .main-svg").first).to_be_visible(timeout=UNTIL_DRAWN_MS)
    for picture, opening in (("SVG", "<svg"), ("PNG", "PNG")):
        with page.expect_download() as download:
            page.locator("[data-figure]").first.get_by_role("button", name=picture).click()
        assert opening.encode() in download.value.path().read_bytes()[:200]


def test_the_page_follows_a_run(
    reported: Project,
    sign_in: Callable[[str], Page],
    make_judge: Callable[..., Judge],
    start_worker: Callable[[], WorkerProcess],
) -> None:
    start_worker()
    judge = make_judge(reported, name="Judge Judy", use_steps=False)
    page = sign_in("olga")
    page.goto(f"{REPORT}paper/")
    # One judge, three that read nothing, and the ceiling.
    expect(page.locator(".paper tbody tr")).to_have_count(5)

    run = start_run(judge, list(reported.criteria.all()))
    wait_until(lambda: type(run).objects.get(pk=run.pk).state == RunState.DONE)

    expect(page.locator(".paper").get_by_text("Judge Judy")).to_be_visible(timeout=4_000)


def test_a_share_link_works_signed_out(
    reported: Project, sign_in: Callable[[str], Page], browser: Browser
) -> None:
    page = sign_in("olga")
    page.goto(REPORT + "?coefficient=kendall")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Publish").click()
    page.get_by_role("button", name="Create link").click()
    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    address = page.evaluate("navigator.clipboard.readText()")
    assert address in page.get_by_role("status").inner_text()

    visitor = browser.new_context().new_page()
    visitor.goto(address)

    expect(visitor.get_by_text("summary level, Kendall")).to_be_visible()
    expect(visitor.locator(".standings .dot").first).to_be_visible()
    expect(visitor.get_by_role("button", name="Create link")).to_have_count(0)
    visitor.locator(".evidence").get_by_role("link", name="coherence").click()
    visitor.get_by_text("Charts to explore").click()
    visitor.locator("[data-figure]").first.scroll_into_view_if_needed()
    expect(visitor.locator("[data-figure] .main-svg").first).to_be_visible(timeout=UNTIL_DRAWN_MS)
    visitor.context.close()


def test_a_judges_name_is_text_in_charts(
    owner: User, small_project: Project, load: Callable[..., object], sign_in: Callable[[str], Page]
) -> None:
    name = '<a href="https://x.example/">R&D</a>'
    quoted = name.replace('"', '""')
    load(small_project, {"scores.csv": SCORES.replace("imported", f'"{quoted}"')})
    page = sign_in("olga")

    page.goto(NUMBERS)
    page.get_by_text("Charts to explore").click()
    page.locator("[data-figure]").first.scroll_into_view_if_needed()

    expect(page.locator(".main-svg .legendtext", has_text=name).first).to_be_visible(
        timeout=UNTIL_DRAWN_MS
    )
    assert page.locator(".main-svg a").count() == 0
