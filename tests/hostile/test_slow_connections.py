"""Connections that send their request's head a byte at a time, or nothing at all, keep nobody
out."""

import contextlib
import socket
import threading
import urllib.request
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from tests.conftest import wait_until
from tests.processes import SiteProcess

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.processes]
HEAD = b"GET /sign-in/ HTTP/1.1\r\nHost: localhost\r\nX-Slow: "


class SlowConnections:
    """Fifty connections to a site; `drip` says whether each sends a byte of its head every
    second."""

    def __init__(self, address: str, *, drip: bool) -> None:
        parts = urlsplit(address)
        self.sockets = [socket.create_connection((parts.hostname, parts.port)) for _ in range(50)]
        self.ended = threading.Event()
        if drip:
            for one in self.sockets:
                one.sendall(HEAD)
            threading.Thread(target=self._drip, daemon=True).start()

    def _drip(self) -> None:
        while not self.ended.wait(1):
            for one in self.sockets:
                with contextlib.suppress(OSError):
                    one.send(b"x")

    def are_closed(self) -> bool:
        """Whether the site has ended all of them."""
        for one in self.sockets:
            one.setblocking(False)
            try:
                if one.recv(1) != b"":
                    return False
            except BlockingIOError:
                return False
            except OSError:
                continue
        return True

    def close(self) -> None:
        self.ended.set()
        for one in self.sockets:
            one.close()


@pytest.fixture
def site(database_url: str) -> Iterator[SiteProcess]:
    served = SiteProcess(database_url, threads=2)
    yield served
    served.stop()


@pytest.mark.parametrize("drip", [True, False])
def test_the_sign_in_page_still_answers_and_they_are_ended(site: SiteProcess, drip: bool) -> None:
    slow = SlowConnections(site.address, drip=drip)
    try:
        for _ in range(20):
            with urllib.request.urlopen(f"{site.address}/sign-in/", timeout=30) as answer:
                assert answer.status == 200
        wait_until(slow.are_closed, seconds=60)
    finally:
        slow.close()


def test_heads_in_pieces_are_answered_and_endless_ones_refused(site: SiteProcess) -> None:
    parts = urlsplit(site.address)
    with socket.create_connection((parts.hostname, parts.port), timeout=30) as pieces:
        for piece in (HEAD, b"y", b"\r\n", b"\r", b"\n"):
            pieces.sendall(piece)
        assert pieces.recv(15) == b"HTTP/1.1 200 OK"
    with socket.create_connection((parts.hostname, parts.port), timeout=30) as endless:
        endless.sendall(HEAD + b"z" * 100_000)
        assert endless.recv(12) == b"HTTP/1.1 431"
    body = b"username=x&password=y"
    with socket.create_connection((parts.hostname, parts.port), timeout=30) as posting:
        posting.sendall(
            b"POST /sign-in/ HTTP/1.1\r\nHost: localhost\r\nContent-Type:"
            b" application/x-www-form-urlencoded\r\nContent-Length: %d\r\n\r\n" % len(body) + body
        )
        assert posting.recv(12) == b"HTTP/1.1 403"  # without the token of a form
