"""The site, the stand-in LLM and Celery workers as the processes they are."""

import contextlib
import itertools
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Any

_NUMBERS = itertools.count()
CHECKOUT = Path(__file__).resolve().parents[1]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class StandInProcess:
    """`manage.py standin_llm` on a port of its own."""

    def __init__(self, switches: Sequence[str] = ()) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "manage.py", "standin_llm", "--port", "0", *switches],
            cwd=CHECKOUT,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        self.greeting = self.process.stdout.readline()
        self.base_url = next(word for word in self.greeting.split() if word.startswith("http://"))

    @property
    def stats(self) -> dict[str, Any]:
        """What the server counted: calls, answers by status, and how often the same was asked."""
        with urllib.request.urlopen(
            self.base_url.removesuffix("/v1") + "/stats", timeout=10
        ) as answer:
            return json.load(answer)

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(20)
        assert self.process.stdout is not None
        self.process.stdout.close()


class SiteProcess:
    """The site, served by gunicorn on a port of its own; `address` answers once it is made."""

    def __init__(
        self, database_url: str, *switches: str, threads: int = 4, **environment: str
    ) -> None:
        port = free_port()
        self.address = f"http://127.0.0.1:{port}"
        self.process = subprocess.Popen(
            [
                sys.executable, "-m", "gunicorn", "geval_site.wsgi", "--config",
                "python:geval_site.web_server",
                "--bind", f"127.0.0.1:{port}", "--workers", "1", "--threads", str(threads),
                "--log-level", "error",
                *switches,
            ],
            cwd=CHECKOUT,
            env={**os.environ, "DATABASE_URL": database_url, **environment},
        )  # fmt: skip
        deadline = time.monotonic() + 30
        while True:
            try:
                urllib.request.urlopen(f"{self.address}/sign-in/", timeout=5).close()
                return
            except OSError:
                assert self.process.poll() is None, "the server ended instead of starting"
                assert time.monotonic() < deadline
                time.sleep(0.1)

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(20)


class WorkerProcess:
    """A Celery worker in a process group of its own, so that it can be killed with its children.

    It takes the jobs of all queues, one at a time, unless `switches` say otherwise.
    """

    def __init__(self, database_url: str, *switches: str) -> None:
        self.process = subprocess.Popen(
            [
                sys.executable, "-m", "celery", "-A", "geval_site", "--quiet", "worker",
                "--concurrency", "1",
                "--loglevel", "ERROR", "--without-mingle", "--without-gossip",
                "--hostname", f"t{os.getpid()}-{next(_NUMBERS)}@%h", *switches,
            ],
            cwd=CHECKOUT,
            env={**os.environ, "DATABASE_URL": database_url, "PYTHONWARNINGS": "ignore"},
            stdout=subprocess.DEVNULL,
            start_new_session=True,
        )  # fmt: skip

    def kill(self) -> None:
        """Like a machine that loses power: no last words."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(20)
