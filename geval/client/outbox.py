"""Rows that wait to be sent to a site by a separate thread; for `client.log`.

Adding a row never waits and never raises. It needs only the standard library, like the client.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import logging
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

# While its site is away, a program must not run out of memory: further rows are dropped.
MOST_WAITING = 10_000
MOST_BYTES = 64 * 2**20
# A batch is one request, which is sent again as a whole.
BATCH_ROWS = 500
BATCH_BYTES = 4 * 2**20
# How long a row waits for others, and the pause after a site does not answer.
GATHER_SECONDS = 1.0
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 30.0
# How long the program waits at its end.
EXIT_SECONDS = 5.0
log = logging.getLogger("geval.client")


@dataclass(frozen=True)
class Row:
    """A row of a project, as a line of JSON."""

    project: str
    line: bytes


class RefusedError(Exception):
    """The site refused rows: those in `lines` (from 1), or all of them."""

    def __init__(self, reason: str, lines: frozenset[int] = frozenset()) -> None:
        super().__init__(reason)
        self.lines = lines


class NotNowError(Exception):
    """The site does not answer, or asks to wait: the same rows may be sent later."""


Send = Callable[[str, Sequence[bytes]], None]


class Outbox:
    """A bounded queue and the thread that empties it.

    Args:
        send: sends lines to a project; raises RefusedError or NotNowError.
    """

    def __init__(self, send: Send, *, most: int = MOST_WAITING) -> None:
        self.send = send
        self.most = most
        self.dropped = 0
        self._begin_anew()
        atexit.register(self._at_exit)

    def _begin_anew(self) -> None:
        self.owner = os.getpid()
        self.changed = threading.Condition()
        self.waiting: deque[Row] = deque()
        self.waiting_bytes = 0
        self.unsent = 0
        self.hurried = self.ended = False
        self.thread: threading.Thread | None = None

    def put(self, project: str, row: Mapping[str, Any]) -> None:
        """Queue a row; it is dropped if too many wait, or if it cannot be written as JSON."""
        try:
            if self.owner != os.getpid():
                self._begin_anew()  # after a fork there is neither the thread nor its queue
            line = json.dumps(row, default=str).encode()
            with self.changed:
                size = self.waiting_bytes + len(line)
                if self.ended or len(self.waiting) >= self.most or size > MOST_BYTES:
                    self._drop(1, f"{len(self.waiting):,} rows wait already")
                    return
                self.waiting.append(Row(project, line))
                self.waiting_bytes = size
                self.unsent += 1
                if self.thread is None:
                    self.thread = threading.Thread(target=self._run, name="geval-log", daemon=True)
                    self.thread.start()
                self.changed.notify_all()
        except Exception as error:  # errors here must not stop the caller
            self._drop(1, f"{type(error).__name__}: {error}")

    def flush(self, seconds: float) -> bool:
        """Send the waiting rows; return whether none was left after that time."""
        if self.owner != os.getpid():
            return True
        with self.changed:
            self.hurried = True
            self.changed.notify_all()
            done = self.changed.wait_for(lambda: self.unsent == 0, seconds)
            self.hurried = False
        return done

    def _at_exit(self) -> None:
        if self.owner != os.getpid() or self.flush(EXIT_SECONDS):
            return
        with self.changed:
            self.ended = True
            self._drop(self.unsent, "the program ended before the site took them")

    def _drop(self, count: int, reason: str) -> None:
        """Count lost rows; warn about the first ones."""
        is_first, self.dropped = not self.dropped, self.dropped + count
        if is_first:
            with contextlib.suppress(Exception):
                log.warning(
                    "geval_site: %s rows were not logged (%s); more are counted in `dropped`.",
                    count,
                    reason,
                )

    # The thread

    def _run(self) -> None:
        while not self.ended:
            batch = self._next_batch()
            try:
                self._deliver(batch[0].project, [row.line for row in batch])
            except Exception as error:  # the thread must continue for the next rows
                self._drop(len(batch), f"{type(error).__name__}: {error}")
            with self.changed:
                self.unsent -= len(batch)
                self.changed.notify_all()

    def _next_batch(self) -> list[Row]:
        """Return the next rows of a project; waits for the first, and a little for others."""
        with self.changed:
            self.changed.wait_for(lambda: bool(self.waiting))
            self.changed.wait_for(
                lambda: self.hurried or len(self.waiting) >= BATCH_ROWS, GATHER_SECONDS
            )
            batch = [self.waiting.popleft()]
            size = len(batch[0].line)
            while (
                self.waiting
                and len(batch) < BATCH_ROWS
                and self.waiting[0].project == batch[0].project
                and (size := size + len(self.waiting[0].line)) <= BATCH_BYTES
            ):
                batch.append(self.waiting.popleft())
            self.waiting_bytes -= sum(len(row.line) for row in batch)
            return batch

    def _deliver(self, project: str, lines: list[bytes]) -> None:
        """Send lines until the site has taken or refused them; refused ones are left out."""
        pause = FIRST_PAUSE
        while lines and not self.ended:
            try:
                self.send(project, lines)
            except NotNowError:
                time.sleep(pause)
                pause = min(2 * pause, LONGEST_PAUSE)
            except RefusedError as error:
                kept = [line for number, line in enumerate(lines, 1) if number not in error.lines]
                if len(kept) == len(lines):
                    kept = []
                self._drop(len(lines) - len(kept), str(error))
                lines = kept
            else:
                return
