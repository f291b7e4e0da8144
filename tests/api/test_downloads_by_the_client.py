"""A download that is refused or cut leaves the file that was there before."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from geval.client import Client


class Cut:
    """A body whose connection is lost after its first piece."""

    pieces = 1

    def read(self, *_size: Any) -> bytes:
        if not self.pieces:
            raise ConnectionResetError
        self.pieces -= 1
        return b"half"


class Whole(Cut):
    def read(self, *_size: Any) -> bytes:
        self.pieces -= 1
        return b"whole" if self.pieces == 0 else b""


def download(body: Cut | None, to: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Without a body the site does not answer."""

    @contextlib.contextmanager
    def opened(*_request: Any) -> Iterator[Cut]:
        if body is None:
            raise ConnectionRefusedError
        yield body

    monkeypatch.setattr(Client, "_open", opened)
    project = Client("http://site.example", "token").project("small")
    return project.request("GET", "/exports/argilla.json", to=to)


@pytest.mark.parametrize("body", [None, Cut])
def test_what_was_there_stays_where_a_download_fails(
    body: type[Cut] | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "scores.json"
    target.write_bytes(b"before")

    with pytest.raises(ConnectionError):
        download(body and body(), target, monkeypatch)

    assert [path.name for path in tmp_path.iterdir()] == ["scores.json"]
    assert target.read_bytes() == b"before"


def test_a_whole_download_takes_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "scores.json"
    target.write_bytes(b"before")

    path = download(Whole(), target, monkeypatch)

    assert (path, target.read_bytes(), len(list(tmp_path.iterdir()))) == (target, b"whole", 1)
