"""Child processes of a command: they end with it, even if the command is killed, and workers that
end earlier are restarted."""

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

import structlog

log = structlog.stdlib.get_logger(__name__)
# Workers release their items and store results before they end.
PATIENCE_SECONDS = 15.0
# A process that ends sooner than this after its start, this many times in a row, cannot run at all.
SOON_SECONDS, MOST_STARTS = 20.0, 3
# From Linux's `<sys/prctl.h>`.
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE = 1, 4


@dataclass
class _Child:
    """A process, with the means to restart it if it should always run."""

    process: subprocess.Popen[str]
    start: Callable[[], subprocess.Popen[str]] | None = None
    started: float = field(default_factory=time.monotonic)
    short_lives: int = 0


class Processes:
    """A context that ends every process started in it, the last one first: by SIGTERM, then
    SIGKILL.

    Children have separate sessions, so that Ctrl-C reaches only the command, which then ends them
    in order.

    Args:
        log: a file for their unread output; by default the terminal.
        reason: where they report why they ended, in words.
    """

    def __init__(self, log: IO[bytes] | None = None, *, reason: str = "see above") -> None:
        self._children: list[_Child] = []
        self._log = log
        self.reason = reason

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
        stdout: IO[Any] | int | None = None,
        stderr: IO[Any] | int | None = None,
        again: bool = False,
    ) -> subprocess.Popen[str]:  # fmt: skip
        """Start a command in the folder of our packages, so that it can import them.

        Args:
            again: whether `tend` restarts it when it has ended.
        """

        def start() -> subprocess.Popen[str]:
            return self._start(command, env, stdout or self._log, stderr or self._log)

        process = start()
        self._children.append(_Child(process, start if again else None))
        return process

    def _start(
        self,
        command: Sequence[str],
        env: Mapping[str, str] | None,
        stdout: IO[Any] | int | None,
        stderr: IO[Any] | int | None,
    ) -> subprocess.Popen[str]:
        return subprocess.Popen(
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

    def stop(self) -> None:
        """End all of them and wait until they have ended."""
        running = [child.process for child in reversed(self._children)]
        for process in running:
            if process.poll() is None:
                process.terminate()
        for process in running:
            try:
                process.wait(PATIENCE_SECONDS)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            if process.stdout:
                process.stdout.close()
        self._children.clear()

    def tend(self) -> subprocess.Popen[str] | None:
        """Restart processes that should always run and have ended; return a process that ended for
        good, if there is one."""
        for child in self._children:
            if child.process.poll() is None:
                continue
            lived = time.monotonic() - child.started
            child.short_lives = child.short_lives + 1 if lived < SOON_SECONDS else 0
            if child.start is None or child.short_lives >= MOST_STARTS:
                return child.process
            log.warning("process started again", code=child.process.returncode)
            child.process, child.started = child.start(), time.monotonic()
        return None


def hide_secrets() -> None:
    """Have no other process of the same user, such as one that scores, read this one's environment
    and memory; only Linux can."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0)


def _die_with_parent() -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
