"""A real Chromium on a real web server and the test database."""

import os
import shutil
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from tests.processes import SiteProcess

CHROMIUM = next(
    (
        path
        for name in ("chromium", "chromium-browser", "google-chrome")
        if (path := shutil.which(name))
    ),
    "",
)
# Without these it looks for hosts outside; as root it cannot make a sandbox.
SWITCHES = [
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-gpu",
    "--no-first-run",
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One a module, not a session: Playwright keeps an event loop running, and other tests need one
    of their own."""
    if not CHROMIUM:
        pytest.skip("no Chromium is installed; `make browser` installs it on Debian")
    # Playwright's loop would make Django refuse database calls in this thread, which are safe here.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
    with sync_playwright() as playwright:
        switches = [*SWITCHES, *(["--no-sandbox"] if os.geteuid() == 0 else [])]
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=switches)
        yield started
        started.close()
    del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]


@pytest.fixture(scope="session")
def site(database_url: str) -> Iterator[str]:
    """The address of the site, served by gunicorn on the test database."""
    served = SiteProcess(database_url)
    yield served.address
    served.stop()


@pytest.fixture
def context(browser: Browser, site: str) -> Iterator[BrowserContext]:
    made = browser.new_context(base_url=site)
    made.set_default_timeout(20_000)
    yield made
    made.close()


@pytest.fixture
def sign_in(context: BrowserContext) -> Callable[[str], Page]:
    """A page of somebody who has signed in; errors in its scripts fail the test at its end."""

    def go(username: str) -> Page:
        page = context.new_page()
        page.goto("/sign-in/")
        page.get_by_label("Username").fill(username)
        page.get_by_label("Password").fill(f"secret-of-{username}")
        page.get_by_role("button", name="Sign in").click()
        return page

    return go
