"""A worker's heartbeat, which also looks for unattended work, because messages may be lost.

Every worker process runs one thread that touches its heartbeat row and looks for runs with free
items that no live worker holds, for paused runs whose time to resume has come, for uploads, errands
and reports nobody works on, and for messages of webhooks that are due; for those it sends a new
message. Hence work goes on after the loss of a worker, of all workers, or of the queue. It keeps
the schedule of studies of judges, such as drift watches, and ends campaigns and runs that have
reached their goals. Once an hour it removes temporary files,
and what the site's retention policy says.
"""

import contextlib
import itertools
import threading
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import structlog
from celery.signals import worker_ready, worker_shutdown, worker_shutting_down
from django.conf import settings
from django.db import Error as DatabaseError
from django.db import connection
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from annotations.planning.campaigns import announce_answered_campaigns
from evaluations.improving.work import neglected_searches
from evaluations.instrument.asking import go_on
from evaluations.models import (
    Batch,
    EvaluationRun,
    Project,
    RunItem,
    RunState,
    Transport,
    WorkerHeartbeat,
)
from evaluations.models.runs import is_free, job_of_project
from evaluations.operations.retention import policy_of_site, tidy
from evaluations.projects.deletion import remove_deleted
from evaluations.reports.goals import close_reached_campaigns
from evaluations.reports.keeping import neglected_reports
from evaluations.reports.run_goals import end_runs_at_goals
from evaluations.runs.errands import neglected_errands
from evaluations.runs.resuming import resume_due_runs
from evaluations.runs.shift import ours, worker_name
from evaluations.uploads.leftovers import clear_leftovers
from evaluations.uploads.loading import neglected_uploads
from evaluations.waking import (
    wake_for_errand,
    wake_for_report,
    wake_for_search,
    wake_for_upload,
    wake_for_webhooks,
    wake_one_worker,
)
from evaluations.webhooks.claiming import can_send_more
from geval_site.logs import kind_of
from geval_site.queues import RUNS

BEAT_SECONDS = 5.0
UPLOADS_EVERY = 12  # beats
LEFTOVERS_EVERY = 720
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


def neglected_runs() -> list[int]:
    """Active runs with work that no worker is doing."""
    items = RunItem.objects.filter(run=OuterRef("pk"))
    unattended = Q(preparer_until=None) | is_free("preparer_until")
    unprepared = Q(state=RunState.PREPARING) & unattended
    unworked = Q(state=RunState.RUNNING) & Exists(items.claimable()) & ~Exists(items.held())
    unclosed = Q(state=RunState.RUNNING) & ~Exists(items.open())
    batches = Batch.objects.filter(run=OuterRef("pk"))
    due = Q(state=RunState.RUNNING, transport=Transport.BATCH) & (
        Exists(batches.filter(state=Batch.State.SENDING))
        | Exists(batches.filter(state=Batch.State.SENT, look_at__lte=timezone.now()))
    )
    waiting = unprepared | unworked | unclosed | (due & unattended)
    runs = EvaluationRun.objects.filter(waiting, ours("project"))
    return list(runs.values_list("pk", flat=True))


def start_tidying() -> threading.Thread:
    """Remove deleted projects, and what the retention policy says, beside the heart: it may take
    minutes."""
    thread = threading.Thread(target=_tidy, name="tidy", daemon=True)
    thread.start()
    return thread


def _tidy() -> None:
    try:
        for gone in remove_deleted():
            log.info("project removed", project=gone.slug, rows=gone.rows)
        for one in tidy(policy_of_site()):
            log.info("tidied", project=one.slug, replies=one.replies, entries=one.entries)
    except Exception as error:
        # The next hour's attempt continues.
        log.warning("tidying failed", worker=worker_name(), reason=kind_of(error))
    finally:
        connection.close()


@worker_ready.connect
def _start(sender: Any, **_kwargs: Any) -> None:
    consumed = set(sender.app.amqp.queues.consume_from)
    jobs = [job for job, queue in settings.QUEUES.items() if queue in consumed]
    if settings.ONLY_PROJECT:
        jobs = [job_of_project(job, settings.ONLY_PROJECT) if job == RUNS else job for job in jobs]
    threading.Thread(target=_keep_beating, args=[jobs], name="heartbeat", daemon=True).start()
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
    # Uploads, errands and reports that wait in the queue look like neglected ones, so workers are
    # called for these only once a minute.
    for number in itertools.count():
        if _leaving.is_set():
            break
        try:
            beat(worker_name(), jobs)
            resume_due_runs(ours("project"))
            for run_id in neglected_runs():
                wake_one_worker(run_id)
            if not settings.ONLY_PROJECT:
                go_on()
            if number % UPLOADS_EVERY == 0:
                for upload_id in neglected_uploads():
                    wake_for_upload(upload_id)
                for kind, errand_id in neglected_errands():
                    wake_for_errand(kind, errand_id)
                if not settings.ONLY_PROJECT:
                    for search_id in neglected_searches():
                        wake_for_search(search_id)
                for kept_id in neglected_reports():
                    wake_for_report(kept_id)
                if Project.objects.deleted().exists():
                    start_tidying()
            if number % LEFTOVERS_EVERY == 0:
                clear_leftovers()
                start_tidying()
            announce_answered_campaigns()
            close_reached_campaigns()
            end_runs_at_goals()
            if can_send_more():
                wake_for_webhooks()
        except Exception as error:
            # The thread must survive a database or a queue that is unavailable for a while.
            log.warning("heartbeat failed", worker=worker_name(), reason=kind_of(error))
            with contextlib.suppress(DatabaseError):
                connection.close()
        _leaving.wait(BEAT_SECONDS)
    connection.close()
