"""A download that is refused or cut leaves the file that was there before."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from geval.client.awaiting import AsyncClient
from geval.client.blocking import Client


class Cut:
    """A body whose connection is lost after its first piece."""

    pieces = 1

    def read(self, *_size: Any) -> bytes:
        if not self.pieces:
            raise ConnectionResetError
        self.pieces -= 1
        return b"half"

    async def aiter_bytes(self) -> AsyncIterator[bytes]:
        while True:
            yield self.read()


class Whole(Cut):
    def read(self, *_size: Any) -> bytes:
        self.pieces -= 1
        return b"whole" if self.pieces == 0 else b""

    async def aiter_bytes(self) -> AsyncIterator[bytes]:
        yield self.read()


def download(body: Cut | None, to: Path, monkeypatch: pytest.MonkeyPatch, client: Any) -> None:
    """By one of the clients; without a body the site does not answer."""

    @contextlib.contextmanager
    def opened(*_request: Any) -> Iterator[Cut]:
        if body is None:
            raise ConnectionRefusedError
        yield body

    @contextlib.asynccontextmanager
    async def opened_later(*_request: Any) -> AsyncIterator[Cut]:
        with opened() as response:
            yield response

    waits = client is AsyncClient
    monkeypatch.setattr(client, "_open", opened_later if waits else opened, raising=False)
    project = client("http://site.example", "token").project("small")
    monkeypatch.setattr(type(project), "_open", opened_later if waits else opened, raising=False)
    saved = project.get_export(to, "argilla.json")
    if waits:
        asyncio.run(saved)


@pytest.mark.parametrize("client", [Client, AsyncClient])
@pytest.mark.parametrize("body", [None, Cut])
def test_what_was_there_stays_where_a_download_fails(
    client: Any, body: type[Cut] | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "scores.json"
    target.write_bytes(b"before")

    with pytest.raises(ConnectionError):
        download(body and body(), target, monkeypatch, client)

    assert [path.name for path in tmp_path.iterdir()] == ["scores.json"]
    assert target.read_bytes() == b"before"


@pytest.mark.parametrize("client", [Client, AsyncClient])
def test_a_whole_download_takes_its_place(
    client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "scores.json"
    target.write_bytes(b"before")

    download(Whole(), target, monkeypatch, client)

    assert (target.read_bytes(), len(list(tmp_path.iterdir()))) == (b"whole", 1)
