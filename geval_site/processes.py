"""Child processes of a command: they end with it, even if the command is killed."""

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Self

PATIENCE_SECONDS = 15.0
_PR_SET_PDEATHSIG = 1


class Processes:
    """A context that ends every process started in it, the last first: by SIGTERM, then SIGKILL.

    Children have separate sessions, so that Ctrl-C reaches only the command, which then ends them
    in order.
    """

    def __init__(self) -> None:
        self._running: list[subprocess.Popen[str]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def start(
        self, command: Sequence[str], *, env: Mapping[str, str] | None = None,
        stdout: IO[str] | int | None = None,
        stderr: IO[str] | int | None = None,
    ) -> subprocess.Popen[str]:  # fmt: skip
        """Start a command, in the folder of our packages so that it finds them."""
        process = subprocess.Popen(
            list(command),
            env={**os.environ, **(env or {})},
            cwd=Path(__file__).resolve().parent.parent,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            text=True,
            start_new_session=True,
            preexec_fn=(_die_with_parent if sys.platform == "linux" else None),  # noqa: PLW1509 - no threads yet
        )
        self._running.append(process)
        return process

    def stop(self) -> None:
        """End all of them and wait for it."""
        for process in reversed(self._running):
            if process.poll() is None:
                process.terminate()
        for process in reversed(self._running):
            try:
                process.wait(PATIENCE_SECONDS)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            if process.stdout:
                process.stdout.close()
        self._running.clear()

    def first_ended(self) -> subprocess.Popen[str] | None:
        """A process that ended unexpectedly, if there is one."""
        return next((process for process in self._running if process.poll() is not None), None)


def _die_with_parent() -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
