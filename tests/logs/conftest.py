"""What tests of the log share: all lines as production writes them, read again."""

import contextlib
import io
import json
import logging
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from geval_site import logs
from tests.conftest import CHECKOUT


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


@contextmanager
def json_worker(database_url: str) -> Iterator[subprocess.Popen[str]]:
    """A real worker whose log is JSON on its standard error."""
    worker = subprocess.Popen(
        [
            sys.executable, "-m", "celery", "-A", "geval_site", "--quiet", "worker",
            "--concurrency", "1", "--without-mingle", "--without-gossip",
        ],
        cwd=CHECKOUT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        env=os.environ | {
            "DATABASE_URL": database_url, "GEVAL_LOG_FORMAT": "json", "PYTHONWARNINGS": "ignore"
        },
        start_new_session=True,
    )  # fmt: skip
    try:
        yield worker
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(worker.pid, signal.SIGKILL)
        worker.wait()
