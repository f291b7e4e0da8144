"""Hostile files through the real site, web server and worker as processes: no failure, and memory
stays small."""

import io
import os
import time
import urllib.error
import urllib.parse
import urllib.request
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User

from evaluations.models import Project, Upload
from tests.archive.test_round_trip import archived
from tests.hostile.memory import watched_memory
from tests.hostile.table import record
from tests.hostile_files import HOSTILE_FILES
from tests.processes import SiteProcess, WorkerProcess

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.processes]
# Some 250 MB are the process at rest, started cold, with the packages that reports need.
MOST_BYTES = 600 * 2**20
ENDED = ("Cannot be loaded", "Checked")


class Browser:
    """Signs in and sends forms with files; an answer of 500 or more is its status."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.cookies = CookieJar()
        self.opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(self.cookies))

    def get(self, path: str) -> tuple[int, str]:
        return self._open(urllib.request.Request(self.address + path))

    def post(
        self, path: str, fields: dict[str, str], name: str = "", content: bytes = b""
    ) -> tuple[int, str]:
        token = (
            next((cookie.value for cookie in self.cookies if cookie.name == "csrftoken"), "") or ""
        )
        boundary = "b0undary"
        body = io.BytesIO()
        for field, value in {**fields, "csrfmiddlewaretoken": token}.items():
            body.write(
                f'--{boundary}\r\nContent-Disposition: form-data; name="{field}"\r\n\r\n'.encode()
                + f"{value}\r\n".encode()
            )
        if name:
            field = "file" if path == "/new/archive/" else "files"
            head = f'Content-Disposition: form-data; name="{field}"; filename="{name}"'
            body.write(f"--{boundary}\r\n{head}\r\n\r\n".encode() + content + b"\r\n")
        body.write(f"--{boundary}--\r\n".encode())
        headers = {
            "Content-Type": f"multipart/form-data; boundary={boundary}",
            "Referer": self.address,
        }
        return self._open(urllib.request.Request(self.address + path, body.getvalue(), headers))

    def _open(self, request: urllib.request.Request) -> tuple[int, str]:
        try:
            with self.opener.open(request, timeout=120) as answer:
                return answer.status, answer.read().decode("utf-8", "replace")
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode("utf-8", "replace")


@pytest.fixture
def site(database_url: str, tmp_path: Path) -> Iterator[SiteProcess]:
    site = SiteProcess(database_url)
    yield site
    site.stop()


@pytest.fixture
def browser(site: SiteProcess, owner: User) -> Browser:
    browser = Browser(site.address)
    browser.get("/sign-in/")
    assert browser.post("/sign-in/", {"username": "olga", "password": "secret-of-olga"})[0] == 200
    return browser


def ended(browser: Browser, upload: Upload) -> str:
    """How an upload ended, as its page says, once nothing is done any more."""
    deadline = time.monotonic() + 300
    while (upload := Upload.objects.get(pk=upload.pk)).is_active:
        assert time.monotonic() < deadline
        time.sleep(0.5)
    status, _page = browser.get(upload.get_absolute_url())
    assert status == 200
    said = upload.message or (upload.errors[0]["message"] if upload.errors else "")
    return f"{upload.get_state_display()}: {said}"


def test_hostile_files_harm_neither_the_web_server_nor_a_worker(
    site: SiteProcess, browser: Browser, project: Project, start_worker: Callable[[], WorkerProcess]
) -> None:
    worker = start_worker()
    rows: list[tuple[str, int, str, int]] = []
    for name, make in HOSTILE_FILES.items():
        content = make()
        with watched_memory(site.process.pid) as web, watched_memory(worker.process.pid) as working:
            status, _page = browser.post("/p/small/data/upload/", {}, name, content)
            upload = Upload.objects.order_by("-pk").first()
            outcome = ended(browser, upload) if upload and status == 200 else ""
        most = max(web.most, working.most)
        rows.append((name, status, outcome, most))
    alive, _ = browser.get("/p/small/data/")

    note("files", rows)
    assert alive == 200
    assert {name: status for name, status, _, _ in rows if status >= 500} == {}
    assert {name: most // 2**20 for name, _, _, most in rows if most > MOST_BYTES} == {}
    assert all(outcome.startswith(ENDED) for _, _, outcome, _ in rows)


def _flipped(archive: bytes) -> bytes:
    """An archive with a byte changed in the middle of its largest file."""
    with zipfile.ZipFile(io.BytesIO(archive)) as read:
        largest = max(read.infolist(), key=lambda one: one.compress_size)
    at = largest.header_offset + 30 + len(largest.filename) + largest.compress_size // 2
    return bytes([*archive[:at], archive[at] ^ 0xFF, *archive[at + 1 :]])


def test_hostile_archives_harm_no_web_server(
    site: SiteProcess, browser: Browser, small_project: Project
) -> None:
    content = archived(small_project).getvalue()
    hostile: dict[str, bytes] = {
        "cut": content[: len(content) // 2],
        "names": HOSTILE_FILES["many.zip"](),
        "bomb": _inflated(content),
        "flipped": _flipped(content),
    }
    rows: list[tuple[str, int, str, int]] = []
    for name, archive in hostile.items():
        with watched_memory(site.process.pid) as web:
            status, page = browser.post("/new/archive/", {}, "archive.zip", archive)
        rows.append((name, status, "refused" if "error" in page else "", web.most))

    note("archives", rows)
    assert browser.get("/")[0] == 200
    assert {status for _, status, _, _ in rows} == {422}
    assert all(most < MOST_BYTES for *_, most in rows)
    assert Project.objects.count() == 1


def test_a_body_of_a_gigabyte_from_nobody_is_not_written_to_disk(
    site: SiteProcess, settings: Any
) -> None:
    import socket

    host, port = site.address.removeprefix("http://").split(":")
    before = free_bytes(Path(settings.DATA_DIR))
    sent = 0
    with socket.create_connection((host, int(port)), timeout=60) as connection:
        size = 1200 * 2**20
        connection.sendall(
            f"POST /sign-in/ HTTP/1.1\r\nHost: {host}\r\nContent-Type: multipart/form-data;"
            f" boundary=b\r\nContent-Length: {size}\r\n\r\n--b\r\nContent-Disposition: form-data;"
            ' name="f"; filename="f"\r\n\r\n'.encode()
        )
        try:
            while sent < size:
                sent += connection.send(b"x" * 2**20)
        except OSError:
            pass

    record("a body of 1.2 GB from nobody", Counter({f"refused after {sent // 2**20} MB": 1}))
    assert sent < 200 * 2**20
    assert before - free_bytes(Path(settings.DATA_DIR)) < 500 * 2**20


def free_bytes(folder: Path) -> int:
    found = os.statvfs(folder)
    return found.f_bavail * found.f_frsize


def _inflated(content: bytes) -> bytes:
    """An archive with a line of a gigabyte."""
    import zipfile

    out = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(content)) as old,
        zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for name in old.namelist():
            if name != "documents.jsonl":
                new.writestr(name, old.read(name))
        with new.open("documents.jsonl", "w") as file:
            for _ in range(1024):
                file.write(b" " * 2**20)
    return out.getvalue()


def note(kind: str, rows: list[tuple[str, int, str, int]]) -> None:
    """A line of the closing table: a failure of the site, or too much memory, is a loss."""
    lost = sum(status >= 500 or most > MOST_BYTES for _, status, _, most in rows)
    largest = max(most for *_, most in rows) // 2**20
    record(
        f"{kind} (at most {largest} MB)",
        Counter({"refused or loaded": len(rows) - lost, "lost": lost}),
    )
