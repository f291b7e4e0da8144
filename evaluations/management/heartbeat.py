"""A worker's heartbeat: a row that says that it lives and whether its threads answer.
Nothing else happens here that could delay it.

Due and abandoned work is looked for in separate threads (`upkeep.py`).

The heartbeat's own thread reports "alive" whatever the others do. So a pulse checks that messages
get through: every few seconds the worker's event loop and a thread of its pool answer a probe. A
worker that does not answer for long is given up, and the service manager (`serve`, systemd, Docker,
Kubernetes) starts another.
"""

import contextlib
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import structlog
from celery.concurrency import get_implementation
from celery.concurrency.thread import TaskPool as ThreadPool
from celery.signals import worker_init, worker_ready, worker_shutdown, worker_shutting_down
from celery.worker import state
from django.conf import settings
from django.db import Error as DatabaseError
from django.db import connection
from django.db.models.functions import Now
from django.utils import timezone

from evaluations.judging.runs.serving import release_lost_slots
from evaluations.management.upkeep import start_lanes
from evaluations.models import WorkerHeartbeat, WorkerSlot
from evaluations.models.workers import job_of_project
from geval_site import environment
from geval_site.logs import kind_of
from geval_site.queues import RUNS, worker_name

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


# A quarter of `WorkerHeartbeat.STALE_AFTER`, so that one late beat does not matter.
BEAT_SECONDS = 5.0
log = structlog.stdlib.get_logger(__name__)
# Set when this worker is asked to stop; its threads then soon leave their work.
leaving = threading.Event()


@dataclass(frozen=True)
class Offer:
    """What a worker does: the kinds of jobs, by their names in `settings.QUEUES`, and the number of
    concurrent runs."""

    jobs: tuple[str, ...]
    slots: int = 0

    @classmethod
    def of(cls, queues: Iterable[str], threads: int) -> "Offer":
        """Return the offer of a worker that reads these queues with this many threads.

        If it has other jobs besides runs, one thread is reserved for them.
        """
        jobs = [job for job, queue in settings.QUEUES.items() if queue in set(queues)]
        slots = 0
        if RUNS in jobs:
            slots = threads if jobs == [RUNS] else max(1, threads - 1)
        if settings.ONLY_PROJECT:
            only = job_of_project(RUNS, settings.ONLY_PROJECT)
            jobs = [only if job == RUNS else job for job in jobs]
        return cls(tuple(jobs), slots)


def beat(name: str, offer: Offer | None = None, *, trouble: str = "") -> None:
    """Update this worker's rows, and remove those of workers not seen for an hour.

    Args:
        offer: the worker's offer; by default all jobs, but no concurrent runs.
        trouble: why it takes no work although it is alive.
    """
    offer = offer or Offer(tuple(settings.QUEUES))
    # Use the database's clock, which decides what is stale.
    shown = {"seen_at": Now(), "leaving": False, "jobs": list(offer.jobs), "trouble": trouble}
    WorkerHeartbeat.objects.update_or_create(name=name, defaults=shown)
    WorkerSlot.objects.open(name, offer.slots)
    WorkerHeartbeat.objects.filter(seen_at__lt=Now() - timedelta(hours=1)).delete()
    WorkerSlot.objects.exclude(worker__in=WorkerHeartbeat.objects.values("name")).delete()


@worker_init.connect
def _refuse_processes(sender: Any, **_kwargs: Any) -> None:
    """Refuse Celery's process pool. Its processes share a pipe with brokers that are not
    asynchronous, such as the queue in PostgreSQL: if the process that reads it is killed, the
    others wait for ever."""
    if not issubclass(get_implementation(sender.pool_cls), ThreadPool):
        raise SystemExit("Workers of this site have threads: leave out --pool.")


@worker_ready.connect
def _start(sender: Any, **_kwargs: Any) -> None:
    offer = Offer.of(sender.app.amqp.queues.consume_from, sender.pool.limit)
    pulse = Pulse(sender)
    threading.Thread(
        target=_keep_beating, args=[offer, pulse], name="heartbeat", daemon=True
    ).start()
    start_lanes(leaving)
    log.info("worker started", worker=worker_name(), jobs=offer.jobs, slots=offer.slots)


@worker_shutting_down.connect
def _announce_leaving(**_kwargs: Any) -> None:
    """Make the threads of this worker release what they hold."""
    leaving.set()
    with contextlib.suppress(DatabaseError):
        WorkerHeartbeat.objects.filter(name=worker_name()).update(leaving=True)


@worker_shutdown.connect
def _stop(**_kwargs: Any) -> None:
    with contextlib.suppress(DatabaseError):
        WorkerHeartbeat.objects.filter(name=worker_name()).delete()
        WorkerSlot.objects.filter(worker=worker_name()).delete()
    log.info("worker stopped", worker=worker_name())


def _keep_beating(offer: Offer, pulse: Pulse) -> None:
    name = worker_name()
    tell_service_manager("READY=1")
    while not leaving.is_set():
        try:
            release_lost_slots(name)
            trouble = pulse.trouble(name)
            beat(name, offer, trouble=trouble)
        except Exception as error:
            # The thread must survive an unavailable database and any other error.
            log.warning("heartbeat failed", worker=name, reason=kind_of(error))
            with contextlib.suppress(DatabaseError):
                connection.close()
        else:
            if trouble:
                log.error("worker frozen", worker=name, reason=trouble)
        if pulse.is_given_up:
            # Its items go to others when their leases expire. It cannot shut down normally, because
            # the threads that would do so do not respond.
            log.error("worker given up", worker=name)
            os.kill(os.getpid(), signal.SIGKILL)
            # The first process of a container ignores signals that it does not handle.
            os._exit(137)
        if not pulse.is_troubled:
            tell_service_manager("WATCHDOG=1")
        leaving.wait(BEAT_SECONDS)
    connection.close()
