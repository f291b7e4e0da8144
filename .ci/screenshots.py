"""`make screenshots`: the demo's main pages in both themes and widths, as pictures in a folder.

Starts the demo in a folder of its own, signs in with its invented accounts, and stops it again.
Six of the pictures are in the README and the docs: `make screenshots DOCS=1` writes them there,
with few colours, so that the repository stays small.
"""

import argparse
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import NamedTuple

import django
from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

CHECKOUT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(CHECKOUT))

# What the browser's tests share imports models.
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.site_settings")
django.setup()

from geval_site.demo_logins import PASSWORDS  # noqa: E402
from tests.browser.conftest import CHROMIUM, SWITCHES  # noqa: E402

WIDTHS = {"desk": (1280, 850), "phone": (375, 720)}
THEMES = ("light", "dark")
MOST_SECONDS = 300
MOST_KB = 400
COLOURS = 128


class Shot(NamedTuple):
    """A page as somebody sees it; of one with `part` only that element."""

    name: str
    user: str
    address: str
    part: str = ""


PAGES = (
    Shot("home", "ada", "/p/demo/"),
    Shot("three-answers", "ada", "/p/three-answers/"),
    Shot("three-answers-report", "ada", "/p/three-answers/report/"),
    Shot("data", "ada", "/p/demo/data/"),
    Shot("criteria", "ada", "/p/demo/criteria/"),
    Shot("campaigns", "ada", "/p/demo/annotate/"),
    Shot("judges", "ada", "/p/demo/judges/"),
    Shot("judge", "ada", "/p/demo/judges/1/"),
    Shot("run", "ada", "/p/demo/runs/1/"),
    Shot("items", "ada", "/p/demo/runs/1/items/"),
    Shot("report", "ada", "/p/demo/report/"),
    Shot("figures", "ada", "/p/demo/report/numbers/", "#figures"),
    Shot("numbers", "ada", "/p/demo/report/numbers/"),
    Shot("disagreements", "ada", "/p/demo/report/disagreements/"),
    Shot("compare", "ada", "/p/demo/report/compare/"),
    Shot("members", "ada", "/p/demo/members/"),
    Shot("annotate", "ann", "/p/demo/annotate/1/task/"),
)
# Which are in the docs: the page, theme, screen, and its highest pixel.
DOCS = (
    ("three-answers-report", "light", "desk", 900),
    ("home", "light", "desk", 850),
    ("figures", "light", "desk", 900),
    ("disagreements", "light", "desk", 850),
    ("annotate", "dark", "phone", 720),
    ("run", "dark", "desk", 1000),
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--docs", action="store_true", help="write those of the docs, too")
    asked = parser.parse_args()
    if not CHROMIUM:
        print("No Chromium is installed; `make browser` installs it on Debian.", file=sys.stderr)
        return 1
    asked.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="geval-screenshots-") as name:
        Path(name).chmod(0o755)  # as root, PostgreSQL runs under another account
        port = free_port()
        site = start(Path(name), port)
        try:
            wide = take_all(f"http://127.0.0.1:{port}", site, asked.folder)
        finally:
            site.terminate()
            site.wait(60)
    if asked.docs:
        for_docs(asked.folder)
    for one in wide:
        print(f"wider than its screen: {one}", file=sys.stderr)
    return 1 if wide else 0


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def start(folder: Path, port: int) -> subprocess.Popen[bytes]:
    """The demo, judged and served; it has no other site's settings."""
    kept = {name: value for name, value in os.environ.items() if name != "DATABASE_URL"}
    return subprocess.Popen(
        [sys.executable, "manage.py", "demo", "--port", str(port)],
        cwd=CHECKOUT, env={**kept, "GEVAL_MODE": "local", "GEVAL_DATA_DIR": str(folder)},
        stdout=subprocess.DEVNULL,
    )  # fmt: skip


def take_all(address: str, site: subprocess.Popen[bytes], folder: Path) -> list[str]:
    """Take all pictures; returns those of pages that are wider than their screen."""
    wait_for(address, site)
    wide = []
    with sync_playwright() as playwright:
        switches = [*SWITCHES, *(["--no-sandbox"] if os.geteuid() == 0 else [])]
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=switches)
        for theme in THEMES:
            for screen, size in WIDTHS.items():
                pages = {user: signed_in(browser, address, user, theme, size) for user in users()}
                for shot in PAGES:
                    name = f"{shot.name}-{theme}-{screen}"
                    if not take(pages[shot.user], shot, folder / f"{name}.png"):
                        wide.append(name)
                    print(folder / f"{name}.png")
                for page in pages.values():
                    page.context.close()
        browser.close()
    return wide


def users() -> set[str]:
    return {shot.user for shot in PAGES}


def wait_for(address: str, site: subprocess.Popen[bytes]) -> None:
    """Until the site answers, which it does once the demo is judged."""
    end = time.monotonic() + MOST_SECONDS
    while time.monotonic() < end and site.poll() is None:
        try:
            with urllib.request.urlopen(f"{address}/healthz", timeout=5):  # noqa: S310
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.5)
    raise SystemExit("The demo did not start.")


def signed_in(browser: Browser, address: str, user: str, theme: str, size: tuple[int, int]) -> Page:
    context = browser.new_context(
        base_url=address,
        viewport={"width": size[0], "height": size[1]},
        color_scheme=theme,  # type: ignore[arg-type]
    )
    page = context.new_page()
    page.goto("/sign-in/")
    page.get_by_label("Username").fill(user)
    page.get_by_label("Password").fill(PASSWORDS[user])
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(lambda url: "sign-in" not in url)
    return page


def take(page: Page, shot: Shot, path: Path) -> bool:
    """Take a picture; whether the page is no wider than its screen."""
    page.goto(shot.address)
    page.wait_for_load_state("networkidle")
    if shot.part:
        page.evaluate("document.querySelectorAll('details.fold').forEach(fold => fold.open = true)")
        page.locator(shot.part).screenshot(path=path)
    else:
        page.screenshot(path=path, full_page="task" not in shot.address)
    wider = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    return bool(wider <= 0)


def for_docs(folder: Path) -> None:
    """Cut those of the docs, and write them with few colours."""
    total = 0
    for name, theme, screen, height in DOCS:
        target = CHECKOUT / "docs" / "images" / f"{name}.png"
        with Image.open(folder / f"{name}-{theme}-{screen}.png") as picture:
            cut = picture.convert("RGB").crop((0, 0, picture.width, min(height, picture.height)))
        cut.quantize(COLOURS, dither=Image.Dither.NONE).save(target, optimize=True)
        total += target.stat().st_size
        print(f"{target}: {target.stat().st_size / 1000:.0f} kB")
    if total > 1000 * MOST_KB:
        raise SystemExit(f"{total / 1000:.0f} kB are more than {MOST_KB}; cut them further.")


if __name__ == "__main__":
    sys.exit(main())
