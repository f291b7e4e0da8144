"""What a browser loads when it opens a page for the first time: bytes, requests, and the time until
something is painted."""

import shutil
from dataclasses import dataclass
from typing import Any

MOST_BYTES = 1_000_000
SETTLED_MS = 1_500


@dataclass(frozen=True)
class FirstVisit:
    """Bytes as they were sent, in `requests` answers; `painted` in seconds."""

    bytes: int
    requests: int
    painted: float


def first_visit(browser: Any, base: str, cookie: str, path: str) -> FirstVisit:
    """Open a page in an empty Chromium profile, as a reader who does not scroll.

    Args:
        browser: Playwright's.
        cookie: of a session of Django's.
    """
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    try:
        context.add_cookies([{"name": "sessionid", "value": cookie, "url": base}])
        page = context.new_page()
        sizes: list[float] = []
        session = context.new_cdp_session(page)
        session.send("Network.enable")
        session.on(
            "Network.loadingFinished", lambda event: sizes.append(event["encodedDataLength"])
        )
        page.goto(base + path, wait_until="load")
        page.wait_for_timeout(SETTLED_MS)
        painted = page.evaluate(
            "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN"
        )
        return FirstVisit(int(sum(sizes)), len(sizes), painted / 1000)
    finally:
        context.close()


def print_first_visits(base: str, cookie: str, paths: dict[str, tuple[str, bool]]) -> list[str]:
    """Print a line for each page; the names of those that send more than they may.

    Args:
        paths: by name, the path of a page and whether the goal is for it.
    """
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        print("first visits are not measured: there is no Chromium (`make browser`)")
        return []
    missed = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for name, (path, has_goal) in paths.items():
            found = first_visit(browser, base, cookie, path)
            ratio = found.bytes / MOST_BYTES
            goal = f" (goal {MOST_BYTES / 1e6:g} MB, ratio {ratio:.2f})" if has_goal else ""
            print(
                f"{name:20} first visit {found.bytes / 1e6:6.3f} MB{goal}, {found.requests}"
                f" requests, first painted after {found.painted:.2f} s"
            )
            if has_goal and found.bytes > MOST_BYTES:
                missed.append(name)
        browser.close()
    return missed
