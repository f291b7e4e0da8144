"""Whether messages get through a worker: its loop and a thread of its pool answer a question that
is asked every few seconds.

The thread that asks says "alive" by itself, whatever the others do; so it looks at what does the
work, and gives the worker up when that does not answer for long. Who started the worker (`serve`,
systemd, Docker, Kubernetes) starts another.
"""

import os
import socket
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import structlog
from celery.worker import state
from django.utils import timezone

from evaluations.models import WorkerSlot
from geval_site import environment
from geval_site.logs import kind_of

log = structlog.stdlib.get_logger(__name__)

# A loop reads messages every second, and a free thread answers at once. A slow machine takes
# seconds for it, not a minute.
UNANSWERED_SECONDS = 60.0
# A slot shows every few seconds that it lives, but not while it waits for a database that is away
# (two minutes), or lays out a run of a million items.
LOST_AFTER = timedelta(minutes=10)
GIVEN_UP_SECONDS = 60.0


class Pulse:
    """Asks a worker's loop and its pool, and says what is wrong with them.

    Args:
        consumer: Celery's consumer of the worker.
        clock: seconds that only grow.
    """

    def __init__(self, consumer: Any, clock: Callable[[], float] = time.monotonic) -> None:
        self._consumer = consumer
        self._clock = clock
        self._is_loop_asked = self._is_pool_asked = False
        self._loop_answered = self._pool_answered = clock()
        self._troubled_since: float | None = None

    def trouble(self, worker: str) -> str:
        """What is wrong with a worker, in a sentence; empty if nothing is. Asks once more.

        Raises:
            DatabaseError: nobody can say how its slots are.
        """
        trouble = self._silence() or _lost_slots(worker)
        if not trouble:
            self._troubled_since = None
        elif self._troubled_since is None:
            self._troubled_since = self._clock()
        if not self._is_loop_asked:
            self._is_loop_asked = True
            self._consumer.call_soon(self._pass_on)
        return trouble

    @property
    def is_troubled(self) -> bool:
        """Whether something was wrong when it last looked."""
        return self._troubled_since is not None

    @property
    def is_given_up(self) -> bool:
        """Whether the trouble has lasted too long to hope."""
        since = self._troubled_since
        return since is not None and self._clock() - since > GIVEN_UP_SECONDS

    def _silence(self) -> str:
        now = self._clock()
        if self._consumer.connection is None:
            # It waits for a broker that is away, and its threads go on with what they have.
            self._loop_answered = self._pool_answered = now
            return ""
        if now - self._loop_answered > UNANSWERED_SECONDS:
            return f"It has read no messages for {now - self._loop_answered:.0f} seconds."
        are_all_busy = len(state.active_requests) >= self._consumer.pool.limit
        if now - self._pool_answered > UNANSWERED_SECONDS and not are_all_busy:
            return f"Its threads have not answered for {now - self._pool_answered:.0f} seconds."
        return ""

    def _pass_on(self) -> None:
        """The loop's part: answer, and have a thread answer as well."""
        self._loop_answered, self._is_loop_asked = self._clock(), False
        if not self._is_pool_asked:  # or questions would pile up before threads that are busy
            self._is_pool_asked = True
            self._consumer.pool.apply_async(self._answer, callback=lambda _answer: None)

    def _answer(self) -> None:
        self._pool_answered, self._is_pool_asked = self._clock(), False


def _lost_slots(worker: str) -> str:
    since = timezone.now() - LOST_AFTER
    lost = WorkerSlot.objects.filter(worker=worker, seen_at__lt=since).exclude(taken_at=None)
    if count := lost.count():
        return f"{count} of its threads have shown no sign of life for ten minutes."
    return ""


def tell_service_manager(state_of_service: str) -> None:
    """Tell systemd how this service is, if it started it (`sd_notify(3)`), and touch the file that
    a container's health check looks at, if there is one.

    Args:
        state_of_service: `READY=1` or `WATCHDOG=1`.
    """
    try:
        if path := environment.text("GEVAL_PULSE_FILE"):
            Path(path).touch()
        if address := os.environ.get("NOTIFY_SOCKET"):
            # An address that begins with @ is of the abstract namespace, written with a zero byte.
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as unix:
                unix.sendto(state_of_service.encode(), address.replace("@", "\0", 1))
    except OSError as error:
        log.warning("pulse not shown", reason=kind_of(error))
