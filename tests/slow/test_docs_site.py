"""The docs are built as a site, offline: every internal link leads somewhere, and nothing in it is
refused by the product's content security policy."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from tests.browser import conftest as chromium
from tests.conftest import CHECKOUT

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("docs") / "site"
    done = subprocess.run(
        [sys.executable, ".ci/docs.py", "--to", folder], cwd=CHECKOUT, capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 problems" in done.stdout
    return folder


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    yield from chromium.browser.__wrapped__()  # type: ignore[attr-defined]


def test_the_reference_is_written_from_the_code(site: Path) -> None:
    commands = (site / "reference/command-options/index.html").read_text()
    endpoints = (site / "reference/api-endpoints/index.html").read_text()
    evaluators = (site / "reference/evaluator-settings/index.html").read_text()
    client = (site / "reference/python-client/index.html").read_text()
    licences = (site / "reference/licences/index.html").read_text()

    assert "--keep-errors" in commands
    assert "GET /projects/{slug}/documents" in endpoints
    assert "rougeLsum" in evaluators
    assert "Project.report_frame" in client
    assert "LGPL-3.0-only" in licences


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_the_product_serves_it_under_its_own_policy(
    site: Path, browser: Browser, live_server: Any, settings: Any
) -> None:
    settings.DOCS_SITE = site
    page = browser.new_page()
    refused: list[str] = []
    page.on("console", lambda said: refused.append(said.text) if said.type == "error" else None)
    elsewhere: list[str] = []
    page.on("request", lambda asked: elsewhere.append(asked.url))

    page.goto(f"{live_server.url}/docs/method/")
    page.get_by_role("textbox", name="Search").click()
    page.keyboard.type("krippendorff")
    page.locator(".md-search-result__link").first.wait_for()
    page.locator(".md-search-result__link").first.click()
    page.wait_for_url("**/docs/*/*")

    assert refused == []
    ours = (live_server.url, "data:", "blob:")
    assert [url for url in elsewhere if not url.startswith(ours)] == []
