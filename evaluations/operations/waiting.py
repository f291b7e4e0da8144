"""What waits for workers, by kind of job, and leases that nobody keeps or takes."""

from datetime import timedelta
from typing import Any

from django.db.models import QuerySet
from django.db.models.functions import Coalesce, Now
from django.utils import timezone

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
from evaluations.runs.errands import KINDS
from geval_site.queues import RUNS

# More is counted as this many: a run may have millions of items, and nobody acts on the difference.
MOST_COUNTED = 100_000
# A lease that ended this long ago has been taken by somebody else, if there is anybody.
STALE_AFTER = timedelta(minutes=5)


def waiting_jobs() -> dict[str, int]:
    """How much waits or is in work in each queue, up to MOST_COUNTED, from the rows that are the
    truth about work."""
    active = list(EvaluationRun.objects.active().values_list("pk", flat=True))
    return {
        RUNS: _count(RunItem.objects.open().filter(run__in=active)),
        "uploads": _count(Upload.objects.neglected()),
        "webhooks": _count(WebhookDelivery.objects.due()),
        "quick": sum(_count(kind.model.objects.free()) for kind in KINDS.values()),
        "reports": _count(KeptReport.objects.free()),
    }


def waiting_runs() -> list[timedelta]:
    """For how long each run waits that has work and is served by no slot."""
    served = WorkerSlot.objects.serving().values("run_id")
    runs = EvaluationRun.objects.active().with_work().exclude(pk__in=served)
    since = Coalesce("served_at", "started_at", "created_at")
    now = timezone.now()
    return [now - moment for moment in runs.order_by().values_list(since, flat=True)]


def stale_leases() -> int:
    """Items of running runs whose worker was lost, and that no other has claimed since."""
    running = list(
        EvaluationRun.objects.filter(state=RunState.RUNNING).values_list("pk", flat=True)
    )
    stale = RunItem.objects.filter(
        run__in=running, state=ItemState.LEASED, lease_until__lt=Now() - STALE_AFTER
    )
    return _count(stale)


def _count(rows: QuerySet[Any]) -> int:
    return rows.order_by()[:MOST_COUNTED].count()
