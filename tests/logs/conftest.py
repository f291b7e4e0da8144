"""What tests of the log share: all lines as production writes them, read again."""

import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest

from geval_site import logs


class Lines:
    """The lines written so far."""

    def __init__(self) -> None:
        self.stream = io.StringIO()

    @property
    def text(self) -> str:
        return self.stream.getvalue()

    @property
    def all(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.text.splitlines()]

    def of(self, event: str) -> list[dict[str, Any]]:
        return [line for line in self.all if line["event"] == event]

    def only(self, event: str) -> dict[str, Any]:
        (line,) = self.of(event)
        return line


@pytest.fixture
def lines() -> Iterator[Lines]:
    written = Lines()
    handler = logging.StreamHandler(written.stream)
    handler.setFormatter(logs.formatter("json"))
    logging.getLogger().addHandler(handler)
    yield written
    logging.getLogger().removeHandler(handler)
