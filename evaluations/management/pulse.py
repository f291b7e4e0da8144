"""Check that messages get through a worker: every few seconds its event loop and a thread of its
pool answer a probe.

The heartbeat's own thread reports "alive" whatever the others do, so this checks the threads that
do the work, and gives the worker up if they do not answer for long. The service manager (`serve`,
systemd, Docker, Kubernetes) then starts another.
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
# seconds, not a minute.
UNANSWERED_SECONDS = 60.0
# A slot renews its heartbeat every few seconds, but not while it waits for an unavailable database
# (two minutes) or lays out a run of a million items.
LOST_AFTER = timedelta(minutes=10)
# The trouble may pass, and a restart interrupts calls that cost money.
GIVEN_UP_SECONDS = 60.0


class Pulse:
    """Probes a worker's loop and its pool, and reports what is wrong with them.

    Args:
        consumer: Celery's consumer of the worker.
        clock: a monotonic clock in seconds.
    """

    def __init__(self, consumer: Any, clock: Callable[[], float] = time.monotonic) -> None:
        self._consumer = consumer
        self._clock = clock
        self._is_loop_asked = self._is_pool_asked = False
        self._loop_answered = self._pool_answered = clock()
        self._troubled_since: float | None = None

    def trouble(self, worker: str) -> str:
        """Return what is wrong with a worker, in a sentence, or an empty text. Sends the next
        probe.

        Raises:
            DatabaseError: the state of its slots is unknown.
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
        """Whether something was wrong at the last check."""
        return self._troubled_since is not None

    @property
    def is_given_up(self) -> bool:
        """Whether the trouble has lasted too long to recover."""
        since = self._troubled_since
        return since is not None and self._clock() - since > GIVEN_UP_SECONDS

    def _silence(self) -> str:
        now = self._clock()
        if self._consumer.connection is None:
            # The loop is waiting for an unavailable broker, while its threads continue their work.
            self._loop_answered = self._pool_answered = now
            return ""
        if now - self._loop_answered > UNANSWERED_SECONDS:
            return f"It has read no messages for {now - self._loop_answered:.0f} seconds."
        are_all_busy = len(state.active_requests) >= self._consumer.pool.limit
        if now - self._pool_answered > UNANSWERED_SECONDS and not are_all_busy:
            return f"Its threads have not answered for {now - self._pool_answered:.0f} seconds."
        return ""

    def _pass_on(self) -> None:
        """Answer in the loop, and have a thread answer too."""
        self._loop_answered, self._is_loop_asked = self._clock(), False
        if not self._is_pool_asked:  # otherwise probes would pile up while the threads are busy
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
    """Report this service's state to systemd, if it started the service (`sd_notify(3)`), and touch
    the file of a container's health check, if there is one.

    Args:
        state_of_service: `READY=1` or `WATCHDOG=1`.
    """
    try:
        if path := environment.text("GEVAL_PULSE_FILE"):
            Path(path).touch()
        if address := os.environ.get("NOTIFY_SOCKET"):
            # An address beginning with @ is in the abstract namespace, written with a zero byte.
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as unix:
                unix.sendto(state_of_service.encode(), address.replace("@", "\0", 1))
    except OSError as error:
        log.warning("pulse not shown", reason=kind_of(error))
