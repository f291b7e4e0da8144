"""`pip install 'geval-site[local,site]' && geval-site demo` in an empty folder; its pages in
Chromium."""

import os
import re
import shutil
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import orjson
import pytest
from playwright.sync_api import Browser, Page, Response

from tests.conftest import CHECKOUT
from tests.package.conftest import VERSIONS, others_may_use, outside
from tests.processes import free_port

ORDINARY = "nobody"
PLOTLY = "plotly/plotly.min.js"
PRODUCTION = {
    "GEVAL_MODE": "production",
    "GEVAL_ALLOW_EMBEDDED": "1",
    "GEVAL_HOSTS": "127.0.0.1",
    "GEVAL_SECRET_KEY": "of this test, and long enough for a site that nobody reaches",
    "GEVAL_SSL_REDIRECT": "0",
}


@contextmanager
def running(
    command: list[str], home: Path, *, user: str | None, until: str, **more: str
) -> Iterator[str]:
    """Run a command in an empty folder with a new data folder; gives the site's address, and ends
    it with Ctrl-C."""
    home.mkdir(exist_ok=True)
    if user:
        shutil.chown(home, user)
    account = {"user": user, "group": "nogroup", "extra_groups": []} if user else {}
    process = subprocess.Popen(
        command, cwd=home, stdout=subprocess.PIPE, text=True, start_new_session=True,
        env=outside() | {"HOME": str(home), "GEVAL_DATA_DIR": str(home / "data"), **more},
        **account,
    )  # fmt: skip
    assert process.stdout
    try:
        said = ""
        for line in process.stdout:
            said += line
            if until in line:
                break
        address = re.search(r"http://127\.0\.0\.1:\d+/(?= )", said)
        assert address, said
        yield address.group()
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
    finally:
        process.terminate()
        process.wait(60)
        process.stdout.close()


def collected(programs: Path) -> tuple[Path, dict[str, str]]:
    """The folder of an installed wheel's static files, and their hashed names by name."""
    packages = next((programs.parent / "lib").iterdir()) / "site-packages"
    folder = packages / "geval_site" / "collected_static"
    return folder, orjson.loads((folder / "staticfiles.json").read_bytes())["paths"]


def as_sent(address: str, coding: str) -> bytes:
    """The bytes that a browser gets which accepts this coding."""
    asked = urllib.request.Request(address, headers={"Accept-Encoding": coding})
    with urllib.request.urlopen(asked, timeout=30) as answer:
        assert answer.headers.get("Content-Encoding", "identity") == coding
        return bytes(answer.read())


def is_missing(got: Response) -> bool:
    # Browsers ask for an icon by themselves.
    return got.status >= 400 and not got.url.endswith("/favicon.ico")


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page; whatever it does not get, and errors of its scripts, fail the test."""
    missing: list[str] = []
    context = browser.new_context()
    opened = context.new_page()
    opened.on("response", lambda got: missing.append(got.url) if is_missing(got) else None)
    opened.on("pageerror", lambda error: missing.append(str(error)))
    yield opened
    context.close()
    assert missing == []


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("user", ["root", "an ordinary user"])
def test_the_demo_runs_and_its_pages_open(
    installed: Callable[[str], Path], folder: Path, page: Page, version: str, user: str
) -> None:
    programs = installed(version)
    as_root = user == "root"
    if as_root and os.geteuid():
        pytest.skip("only root can try it as root")
    if not as_root and not others_may_use((programs / "python").resolve()):
        pytest.skip(f"the Python {version} of this machine is in a private folder")
    somebody = ORDINARY if not as_root and not os.geteuid() else None
    home = folder / f"{user.replace(' ', '-')}-{version}"
    demo = [str(programs / "geval-site"), "demo", "--port", str(free_port())]

    with running(demo, home, user=somebody, until="sign in as vera") as address:
        page.goto(address)
        page.get_by_label("Username").fill("ada")
        page.get_by_label("Password").fill("demo-ada")
        page.get_by_role("button", name="Sign in").click()
        for path in ("p/demo/data/", "admin/", "api/v1/docs"):
            page.goto(address + path)
        page.goto(address + "p/demo/report/numbers/")
        page.get_by_text("Charts to explore").click()
        page.locator("[data-figure]").first.scroll_into_view_if_needed()
        page.locator(".chart .plot-container").first.wait_for()


def test_a_production_site_brings_its_collected_static_files(
    installed: Callable[[str], Path], folder: Path, page: Page, capsys: pytest.CaptureFixture[str]
) -> None:
    programs = installed(VERSIONS[0])
    home = folder / "production"
    home.mkdir()
    site = str(programs / "geval-site")
    settings = outside() | PRODUCTION | {"GEVAL_DATA_DIR": str(home / "data")}
    subprocess.run([site, "migrate", "-v0"], cwd=home, env=settings, check=True)

    serve = [site, "serve", "--port", str(free_port())]
    with running(serve, home, user=None, until="Ctrl-C", **PRODUCTION) as address:
        page.goto(address + "sign-in/")
        styles = page.locator("link[rel=stylesheet]").evaluate_all("all => all.map(it => it.href)")
        plotly = address + "static/" + collected(programs)[1][PLOTLY]
        sizes = {coding: len(as_sent(plotly, coding)) for coding in ("identity", "gzip", "br")}

    with capsys.disabled():
        said = (f"{coding} {size / 1e6:.2f} MB" for coding, size in sizes.items())
        sys.stdout.write(f"\nplotly.min.js as it is sent: {', '.join(said)}\n")
    assert sizes["br"] < sizes["gzip"] < sizes["identity"] / 2
    assert styles
    assert all(re.search(r"\.[0-9a-f]{12}\.css$", style) for style in styles)


def test_every_static_file_that_a_template_names_is_in_the_wheel(
    installed: Callable[[str], Path],
) -> None:
    folder, paths = collected(installed(VERSIONS[0]))
    packages = folder.parents[1]

    templates = sorted(path.relative_to(CHECKOUT) for path in (CHECKOUT / "templates").rglob("*.*"))
    named = {
        name
        for path in templates
        for name in re.findall(r"{% static '([^']+)' %}", (CHECKOUT / path).read_text())
    }

    assert [path for path in templates if not (packages / "geval_site" / path).exists()] == []
    assert sorted(named - paths.keys()) == []
    assert all((folder / name).exists() for name in paths.values())


def test_static_files_are_compressed_in_both_ways(installed: Callable[[str], Path]) -> None:
    folder, paths = collected(installed(VERSIONS[0]))
    gzipped = {path.with_suffix("") for path in folder.rglob("*.gz")}
    by_brotli = {path.with_suffix("") for path in folder.rglob("*.br")}

    assert folder / paths[PLOTLY] in gzipped
    assert gzipped <= by_brotli


def test_a_plain_install_says_which_extras_it_lacks(
    installed: Callable[[str], Path], folder: Path
) -> None:
    programs = installed(VERSIONS[0])
    home = folder / "without-extras"
    home.mkdir()

    said = subprocess.run(
        [programs / "geval-site", "evaluators"], cwd=home, capture_output=True, text=True,
        env=outside() | {"GEVAL_DATA_DIR": str(home / "data")}, check=True,
    ).stdout  # fmt: skip

    lacks = [line.split()[0] for line in said.splitlines() if "geval-site[evaluators]" in line]
    assert sorted(lacks) == ["bleu", "chrf", "meteor", "rouge"]
