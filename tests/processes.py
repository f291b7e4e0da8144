"""The site, the stand-in LLM and Celery workers as the processes they are."""

import contextlib
import itertools
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from tests.forking import ForkedProcess, start_forked

_NUMBERS = itertools.count()
CHECKOUT = Path(__file__).resolve().parents[1]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def start_python(
    *command: str,
    stdout: int | IO[Any] = 1,
    stderr: int | IO[Any] = 2,
    new_session: bool = False,
    env: Mapping[str, str] | None = None,
    **more: str,
) -> "subprocess.Popen[bytes] | ForkedProcess":
    """Start `python COMMAND` in the checkout, with `env` (ours if there is none) and `more`: as a
    copy of a process that is warm, or from nothing where GEVAL_TEST_COLD is set."""
    env = {**(os.environ if env is None else env), **more}
    if sys.platform == "linux" and not os.environ.get("GEVAL_TEST_COLD"):
        return start_forked(command, env=env, stdout=stdout, stderr=stderr, new_session=new_session)
    return subprocess.Popen(
        [sys.executable, *command],
        cwd=CHECKOUT,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=stderr,
        start_new_session=new_session,
    )


class ModelProcess:
    """A command that serves a model on a port of its own."""

    def __init__(self, *command: str) -> None:
        listening, speaking = os.pipe()
        self.process = start_python(*command, "--port", "0", stdout=speaking)
        os.close(speaking)
        self.stdout = os.fdopen(listening)
        self.greeting = self.stdout.readline()
        self.base_url = next(word for word in self.greeting.split() if word.startswith("http://"))

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(20)
        self.stdout.close()


class StandInProcess(ModelProcess):
    """The stand-in with its faults."""

    def __init__(self, switches: Sequence[str] = ()) -> None:
        super().__init__("-m", "tests.standin", *switches)

    @property
    def stats(self) -> dict[str, Any]:
        """What the server counted: calls, answers by status, and how often the same was asked."""
        with urllib.request.urlopen(
            self.base_url.removesuffix("/v1") + "/stats", timeout=10
        ) as answer:
            return json.load(answer)


class SiteProcess:
    """The site, served by gunicorn on a port of its own; `address` answers once it is made."""

    def __init__(
        self, database_url: str, *switches: str, threads: int = 4, **environment: str
    ) -> None:
        port = free_port()
        self.address = f"http://127.0.0.1:{port}"
        self.process = start_python(
            "-m", "gunicorn", "geval_site.wsgi", "--config", "python:geval_site.web_server",
            "--bind", f"127.0.0.1:{port}", "--workers", "1", "--threads", str(threads),
            "--log-level", "error", *switches,
            **{"DATABASE_URL": database_url, **environment},
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
        with Path(os.devnull).open("wb") as nowhere:
            self.process = start_python(
                "-m", "celery", "-A", "geval_site", "--quiet", "worker", "--concurrency", "1",
                "--loglevel", "ERROR", "--without-mingle", "--without-gossip",
                "--hostname", f"t{os.getpid()}-{next(_NUMBERS)}@%h", *switches,
                stdout=nowhere, new_session=True,
                DATABASE_URL=database_url, PYTHONWARNINGS="ignore",
            )  # fmt: skip

    def kill(self) -> None:
        """Like a machine that loses power: no last words."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(20)


def run_to_its_end(
    *command: str, timeout: float, env: Mapping[str, str] | None = None, **more: str
) -> "subprocess.CompletedProcess[str]":
    """Run `python COMMAND`; what it says and its exit code."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        process = start_python(*command, stdout=out, stderr=err, env=env, **more)
        try:
            code = process.wait(timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
        out.seek(0)
        err.seek(0)
        return subprocess.CompletedProcess(command, code, out.read(), err.read())
