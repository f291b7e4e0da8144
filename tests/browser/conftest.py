"""A real Chromium on a real web server and the test database."""

import os
import shutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.contrib.auth import get_user_model
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from evaluations.models import Membership, Project, Role
from tests.conftest import workers_on
from tests.database import keep_rows
from tests.processes import SiteProcess, WorkerProcess

CHROMIUM = next(
    (
        path
        for name in ("chromium", "chromium-browser", "google-chrome")
        if (path := shutil.which(name))
    ),
    "",
)
# A busy machine of two cores has taken 20 s for a page that takes 4; tests measure no time.
PATIENCE_MS = 60_000
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
    expect.set_options(timeout=PATIENCE_MS)
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


@pytest.fixture(scope="module")
def kept_data(database_url: str, django_db_blocker: Any) -> Iterator[None]:
    """What is in the database stays until the last test of a module; none of them may need what
    another one left."""
    with django_db_blocker.unblock(), keep_rows():
        yield


@pytest.fixture
def context(browser: Browser, site: str) -> Iterator[BrowserContext]:
    made = browser.new_context(base_url=site)
    made.set_default_timeout(PATIENCE_MS)
    yield made
    made.close()


@pytest.fixture
def sign_in(context: BrowserContext) -> Callable[[str], Page]:
    """A page of somebody who has signed in; errors in its scripts fail the test at its end."""

    def go(username: str) -> Page:
        page = context.new_page()
        sign_in_on(page, username)
        return page

    return go


def sign_in_on(page: Page, username: str) -> None:
    page.goto("/sign-in/")
    page.get_by_label("Username").fill(username)
    page.get_by_label("Password").fill(f"secret-of-{username}")
    page.get_by_role("button", name="Sign in").click()


def serious(page: Page) -> list[str]:
    """What axe finds on a page that keeps somebody from using it."""
    violations = Axe().run(page).response["violations"]
    return [rule["id"] for rule in violations if rule["impact"] in ("serious", "critical")]


@pytest.fixture(scope="module")
def owned(kept_data: None) -> Project:
    """The project "small" of olga; what a module puts into it stays for all its tests."""
    project = Project.objects.create(name="Small", slug="small")
    user = get_user_model().objects.create_user("olga", password="secret-of-olga")
    Membership.objects.create(project=project, user=user, role=Role.OWNER)
    return project


@pytest.fixture(scope="module")
def worker(kept_data: None, database_url: str) -> Iterator[WorkerProcess]:
    with workers_on(database_url) as start:
        yield start()


@pytest.fixture(scope="module")
def desk(browser: Browser, site: str, owned: Project) -> Iterator[BrowserContext]:
    """olga's browser, signed in."""
    made = browser.new_context(base_url=site)
    made.set_default_timeout(PATIENCE_MS)
    page = made.new_page()
    sign_in_on(page, "olga")
    expect(page.get_by_role("heading", name="Projects")).to_be_visible()
    page.close()
    yield made
    made.close()


@pytest.fixture
def home(desk: BrowserContext) -> Iterator[Page]:
    """The project's first page, where most of what people do begins."""
    page = desk.new_page()
    page.goto("/p/small/")
    yield page
    page.close()
