"""A worker's heartbeat: a row that says it lives, and nothing that could keep it from saying so.

Work that waits for a moment or that a lost worker left is looked for beside it (`upkeep.py`).
"""

import contextlib
import threading
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import structlog
from celery.signals import worker_ready, worker_shutdown, worker_shutting_down
from django.conf import settings
from django.db import Error as DatabaseError
from django.db import connection
from django.utils import timezone

from evaluations.models import WorkerHeartbeat
from evaluations.models.runs import job_of_project
from evaluations.runs.shift import worker_name
from evaluations.upkeep import start_lanes
from geval_site.logs import kind_of
from geval_site.queues import RUNS

BEAT_SECONDS = 5.0
log = structlog.stdlib.get_logger(__name__)
_leaving = threading.Event()


def is_leaving(name: str) -> bool:
    """Whether a worker was asked to stop; False for names without a worker (commands, tests)."""
    return WorkerHeartbeat.objects.filter(name=name, leaving=True).exists()


def beat(name: str, jobs: Sequence[str] | None = None) -> None:
    """Update this worker's row and remove workers not seen for an hour.

    Args:
        jobs: the kinds it accepts, by their names in `settings.QUEUES`; all by default.
    """
    taken = list(settings.QUEUES if jobs is None else jobs)
    defaults = {"seen_at": timezone.now(), "leaving": False, "jobs": taken}
    WorkerHeartbeat.objects.update_or_create(name=name, defaults=defaults)
    WorkerHeartbeat.objects.filter(seen_at__lt=timezone.now() - timedelta(hours=1)).delete()


@worker_ready.connect
def _start(sender: Any, **_kwargs: Any) -> None:
    consumed = set(sender.app.amqp.queues.consume_from)
    jobs = [job for job, queue in settings.QUEUES.items() if queue in consumed]
    if settings.ONLY_PROJECT:
        jobs = [job_of_project(job, settings.ONLY_PROJECT) if job == RUNS else job for job in jobs]
    threading.Thread(target=_keep_beating, args=[jobs], name="heartbeat", daemon=True).start()
    start_lanes(_leaving)
    log.info("worker started", worker=worker_name(), jobs=jobs)


@worker_shutting_down.connect
def _announce_leaving(**_kwargs: Any) -> None:
    """Tell this worker's processes, which check this often, to release what they hold."""
    _leaving.set()
    with contextlib.suppress(DatabaseError):
        WorkerHeartbeat.objects.filter(name=worker_name()).update(leaving=True)


@worker_shutdown.connect
def _stop(**_kwargs: Any) -> None:
    with contextlib.suppress(DatabaseError):
        WorkerHeartbeat.objects.filter(name=worker_name()).delete()
    log.info("worker stopped", worker=worker_name())


def _keep_beating(jobs: list[str]) -> None:
    while not _leaving.is_set():
        try:
            beat(worker_name(), jobs)
        except DatabaseError as error:
            # The thread must survive a database that is unavailable for a while.
            log.warning("heartbeat failed", worker=worker_name(), reason=kind_of(error))
            with contextlib.suppress(DatabaseError):
                connection.close()
        _leaving.wait(BEAT_SECONDS)
    connection.close()
