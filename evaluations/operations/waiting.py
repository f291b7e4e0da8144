"""Jobs that wait for workers, by kind, and leases that nobody renews or takes over."""

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import connection
from django.db.models import Min, QuerySet
from django.db.models.functions import Coalesce, Greatest, Now
from django.utils import timezone

from evaluations.judging.runs.errands import KINDS
from evaluations.models import (
    EvaluationRun,
    ItemState,
    KeptReport,
    RunItem,
    RunState,
    Upload,
    WebhookDelivery,
    WorkerSlot,
)
from geval_site.databases import PGMQ
from geval_site.queues import RUNS

# Counts stop here: a run may have millions of items, and a higher number would change nobody's
# action.
MOST_COUNTED = 100_000
# A lease that ended this long ago would have been taken over, if any worker were able to.
STALE_AFTER = timedelta(minutes=5)


def waiting_jobs() -> dict[str, int]:
    """Return how many jobs wait or are in progress in each queue, up to MOST_COUNTED, from the rows
    that define the work."""
    active = list(EvaluationRun.objects.active().values_list("pk", flat=True))
    return {
        RUNS: _count(RunItem.objects.open().filter(run__in=active)),
        "uploads": _count(Upload.objects.neglected()),
        "webhooks": _count(WebhookDelivery.objects.due()),
        "quick": sum(_count(kind.model.objects.free()) for kind in KINDS.values()),
        "reports": _count(KeptReport.objects.free()),
    }


def waiting_runs() -> list[timedelta]:
    """Return how long each run with work and without a slot has waited."""
    since = Coalesce("served_at", "started_at", "created_at")
    now = timezone.now()
    waiting = EvaluationRun.objects.waiting().order_by()
    return [now - moment for moment in waiting.values_list(since, flat=True)]


def served_runs() -> int:
    """Return how many runs slots serve; several slots may share one."""
    return WorkerSlot.objects.serving().order_by().values("run_id").distinct().count()


def longest_silence() -> timedelta:
    """Return the longest time that a running run with slots has gone without a result."""
    served = WorkerSlot.objects.serving().values("run_id")
    runs = EvaluationRun.objects.filter(state=RunState.RUNNING, pk__in=served).order_by()
    # A run that was paused for long does not count as silent at once; slots come and go all the
    # time.
    since = Greatest("result_at", "resumed_at", "started_at")
    earliest = runs.aggregate(earliest=Min(since))["earliest"]
    return timezone.now() - earliest if earliest else timedelta()


def held_back() -> dict[str, int]:
    """Return how many runs are stopped or slowed, by reason."""
    active = EvaluationRun.objects.active()
    return {
        "endpoint asked to wait": active.filter(waits_until__gt=Now()).count(),
        "paused until it passes": EvaluationRun.objects.resuming().count(),
        "paused until somebody resumes it": EvaluationRun.objects.filter(
            state=RunState.PAUSED, resumes_at=None
        ).count(),
    }


def messages() -> dict[str, int]:
    """Return how many messages wait or are in progress, by kind of job, if the queue is in the
    database; a separate broker has its own metrics."""
    if settings.CELERY_BROKER_URL != PGMQ:
        return {}
    counts = {}
    with connection.cursor() as cursor:
        cursor.execute("SELECT queue_name FROM pgmq.list_queues()")
        made = {name for (name,) in cursor.fetchall()}
        for job, queue in settings.QUEUES.items():
            counts[job] = 0
            if queue in made:  # created by the first message or worker
                table = connection.ops.quote_name(f"q_{queue}")
                cursor.execute(f"SELECT count(*) FROM pgmq.{table}")
                counts[job] = int(cursor.fetchone()[0])
    return counts


def stale_leases() -> int:
    """Return items of running runs whose worker was lost, and that no other has claimed since."""
    running = list(
        EvaluationRun.objects.filter(state=RunState.RUNNING).values_list("pk", flat=True)
    )
    stale = RunItem.objects.filter(
        run__in=running, state=ItemState.LEASED, lease_until__lt=Now() - STALE_AFTER
    )
    return _count(stale)


def _count(rows: QuerySet[Any]) -> int:
    return rows.order_by()[:MOST_COUNTED].count()
