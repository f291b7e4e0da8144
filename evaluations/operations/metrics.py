"""All metrics as one text: from the database, and from counters of the web processes.

Values that several processes change together (items, tokens, queues, workers) are read from the
database on request, so they are right however many processes there are. Every query reads counters,
or a small or bounded number of rows; none reads scores.
"""

import os
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.db import Error as DatabaseError
from django.db import connection
from django.db.models import Count, Min, Q, QuerySet, Sum
from django.db.models.functions import Coalesce, Greatest, Now
from django.utils import timezone
from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from evaluations.models import (
    CountedEvent,
    EvaluationRun,
    EventCount,
    Explanation,
    ItemState,
    Judge,
    KeptReport,
    ModelProbe,
    RunItem,
    RunState,
    StepsRequest,
    UpkeepJob,
    Upload,
    WebhookDelivery,
    WorkerHeartbeat,
    WorkerSlot,
)
from evaluations.models.runs import ACTIVE_STATES
from geval.llm.cost import cost
from geval.llm.run_parameters import RunParameters
from geval_site.databases import PGMQ
from geval_site.embedded.paths import EmbeddedServerError
from geval_site.metrics_folder import VARIABLE
from geval_site.queues import RUNS
from geval_site.sql import fetch_rows, fetch_value
from geval_site.version import __version__

CONTENT_TYPE = CONTENT_TYPE_LATEST
JUDGE = ["project", "judge"]
# Counts stop here: a run may have millions of items, and a higher number would change nobody's
# action.
MOST_COUNTED = 100_000
# A lease that ended this long ago would have been taken over, if any worker were able to.
STALE_AFTER = timedelta(minutes=5)
# Small requests to endpoints, as a worker does them (judging/runs/errands.py).
QUICK_ERRANDS = (ModelProbe, StepsRequest, Explanation)
REMOVED = ("", "removed")  # the judge label of counters whose project was deleted


def metrics_text() -> bytes:
    """Return everything in Prometheus' text format; without a database, only the processes'
    counters."""
    registry = CollectorRegistry()
    if os.environ.get(VARIABLE):
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    else:
        registry.register(_OwnProcess())
    registry.register(DatabaseCollector())
    return generate_latest(registry)


class DatabaseCollector(Collector):
    """Collects metrics that are the same for all processes."""

    def collect(self) -> Iterator[Metric]:
        yield _gauge("geval_info", "The version of the site.", {__version__: 1}, "version")
        try:
            metrics = [*_items(), *_spending(), *_states(), *_service_of_runs(), *_events()]
        except (DatabaseError, EmbeddedServerError, OSError):
            metrics = []
        yield _gauge("geval_database_up", "Whether the database answered.", bool(metrics))
        yield from metrics


class _OwnProcess(Collector):
    """Collects this process's counters, if it is the only process."""

    def collect(self) -> Iterator[Metric]:
        yield from REGISTRY.collect()


def _family(
    kind: type[CounterMetricFamily | GaugeMetricFamily],
    name: str,
    about: str,
    values: Mapping[Any, float],
    labels: Sequence[str],
) -> Metric:
    """Return a metric with a value for each label, or tuple of labels."""
    family = kind(name, about, labels=labels)
    for key, value in values.items():
        family.add_metric([key] if isinstance(key, str) else list(key), value)
    return family


def _gauge(name: str, about: str, values: Mapping[str, float] | float, label: str = "") -> Metric:
    if isinstance(values, Mapping):
        return _family(GaugeMetricFamily, name, about, values, [label])
    return _family(GaugeMetricFamily, name, about, {(): values}, [])


def _counter(name: str, about: str, values: Mapping[Any, float], *labels: str) -> Metric:
    return _family(CounterMetricFamily, name, about, values, labels)


def _items() -> Iterator[Metric]:
    counts = EventCount.objects.filter(event=CountedEvent.ITEMS)
    rows = list(counts.values_list("judge", "reason", "count"))
    names = _judge_names({judge for judge, _, _ in rows})
    outcomes: Counter[tuple[str, ...]] = Counter()
    reasons: Counter[tuple[str, ...]] = Counter()
    for judge, reason, count in rows:
        named = names.get(judge, REMOVED)
        outcomes[*named, "failed" if reason else "scored"] += count
        if reason:
            reasons[*named, reason] += count
    yield _counter("geval_items", "Items that a judge finished.", outcomes, *JUDGE, "outcome")
    about = "Items that failed, by reason."
    yield _counter("geval_item_failures", about, reasons, *JUDGE, "reason")


@dataclass
class Spending:
    """The sum over all runs of a judge; `money` is in the currency of its prices."""

    calls: int = 0
    cache_hits: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    money: Decimal = Decimal(0)


def spending_by_judge() -> dict[int, Spending]:
    """Sum up the spending with one query over the runs; runs with the same prices are added up
    before they are priced."""
    sums = (
        EvaluationRun.objects.of_judges_that_run()
        .with_prices("judge_id")
        .annotate(
            made=Sum("calls"),
            spared=Sum("cache_hits"),
            tokens_in=Sum("prompt_tokens"),
            tokens_out=Sum("completion_tokens"),
            tokens_cached=Sum("cached_tokens"),
        )
    )
    spending: dict[int, Spending] = defaultdict(Spending)
    for row in sums:
        prices = RunParameters.from_json(
            {name: row[name] for name in ("transport", "price_in", "price_out", "price_cached")}
        ).prices
        spent = spending[row["judge_id"]]
        spent.calls += row["made"]
        spent.cache_hits += row["spared"]
        spent.prompt_tokens += row["tokens_in"]
        spent.completion_tokens += row["tokens_out"]
        spent.money += (
            cost(
                row["tokens_in"],
                row["tokens_out"],
                prices,
                cached_tokens=row["tokens_cached"],
            )
            or 0
        )
    return dict(spending)


def _spending() -> Iterator[Metric]:
    spending = spending_by_judge()
    names = _judge_names(set(spending))
    calls, hits, tokens = (Counter[tuple[str, ...]]() for _ in range(3))
    money: dict[tuple[str, str], float] = defaultdict(float)
    for judge, spent in spending.items():
        named = names[judge]
        calls[named] += spent.calls
        hits[named] += spent.cache_hits
        tokens[*named, "prompt"] += spent.prompt_tokens
        tokens[*named, "completion"] += spent.completion_tokens
        money[named] += float(spent.money)
    yield _counter("geval_calls", "Requests sent to endpoints.", calls, *JUDGE)
    about = "Items answered without their own call."
    yield _counter("geval_stored_replies_used", about, hits, *JUDGE)
    yield _counter("geval_tokens", "Tokens used.", tokens, *JUDGE, "direction")
    about = "Cost by the judges' own prices, in their currency."
    yield _counter("geval_money", about, money, *JUDGE)


def _states() -> Iterator[Metric]:
    about = "Jobs that wait or are in work, at most 100 000."
    yield _gauge("geval_queue_depth", about, waiting_jobs(), "queue")
    about = "Items whose worker was lost, and not claimed."
    yield _gauge("geval_stale_leases", about, stale_leases())
    of_judges = EvaluationRun.objects.of_judges_that_run().order_by()
    numbers = dict(of_judges.values_list("state").annotate(number=Count("pk")))
    by_state = {state: numbers.get(state, 0) for state in RunState.values}
    yield _gauge("geval_runs", "Runs of judges, by state.", by_state, "state")
    jobs = WorkerHeartbeat.objects.alive().values_list("jobs", flat=True)
    alive = Counter(job for of_worker in jobs for job in set(of_worker))
    workers = {job: alive[job] for job in settings.QUEUES}
    yield _gauge("geval_workers", "Live workers that take a job.", workers, "queue")
    about = "Workers whose threads do not answer."
    yield _gauge("geval_workers_frozen", about, WorkerHeartbeat.objects.frozen().count())
    about = "Messages in the queue of the database."
    yield _gauge("geval_messages", about, _messages(), "queue")
    upkeep = list(UpkeepJob.objects.all())
    troubles = {job.name: bool(job.trouble) for job in upkeep}
    about = "Whether a periodic job failed or is overdue."
    yield _gauge("geval_upkeep_trouble", about, troubles, "job")
    seconds = {job.name: job.seconds for job in upkeep if job.seconds is not None}
    about = "How long the last turn of a periodic job took."
    yield _gauge("geval_upkeep_seconds", about, seconds, "job")


def _service_of_runs() -> Iterator[Metric]:
    now = timezone.now()
    since = Coalesce("served_at", "started_at", "created_at")
    waiting = EvaluationRun.objects.waiting().order_by().values_list(since, flat=True)
    waited = [(now - moment).total_seconds() for moment in waiting]
    yield _gauge("geval_runs_waiting", "Runs with work that no worker serves.", len(waited))
    about = "How long the run has waited that has waited longest."
    yield _gauge("geval_run_waiting_seconds", about, max(waited, default=0))
    served = WorkerSlot.objects.serving().order_by().values("run_id")
    # Several slots may serve one run.
    yield _gauge("geval_runs_served", "Runs that workers serve.", served.distinct().count())
    # A run that was paused for long does not count as silent at once; slots come and go all the
    # time.
    heard = Min(Greatest("result_at", "resumed_at", "started_at"))
    running = EvaluationRun.objects.filter(state=RunState.RUNNING, pk__in=served).order_by()
    earliest = running.aggregate(heard=heard)["heard"] or now
    about = "Longest time that a running run has gone without a result."
    yield _gauge("geval_run_silent_seconds", about, (now - earliest).total_seconds())
    paused = Q(state=RunState.PAUSED)
    held = EvaluationRun.objects.aggregate(
        waits=Count("pk", filter=Q(state__in=ACTIVE_STATES, waits_until__gt=Now())),
        resumes=Count("pk", filter=paused & Q(resumes_at__isnull=False)),
        stays=Count("pk", filter=paused & Q(resumes_at=None)),
    )
    reasons = {
        "endpoint asked to wait": held["waits"],
        "paused until it passes": held["resumes"],
        "paused until somebody resumes it": held["stays"],
    }
    about = "Runs that do less than they could, by reason."
    yield _gauge("geval_runs_held_back", about, reasons, "reason")
    of_live_workers = WorkerSlot.objects.of_live_workers().order_by()
    slots = of_live_workers.aggregate(free=Count("pk") - Count("taken_at"), busy=Count("taken_at"))
    about = "Runs that live workers could serve at once, and do."
    yield _gauge("geval_slots", about, slots, "state")


def _events() -> Iterator[Metric]:
    counts = EventCount.objects.exclude(event=CountedEvent.ITEMS)
    rows = {(row.event, row.reason): row.count for row in counts}
    lost = {(): rows.get((CountedEvent.LEASES_LOST, ""), 0)}
    yield _counter("geval_leases_lost", "Items claimed again after a lost worker.", lost)
    sent = {key[1]: count for key, count in rows.items() if key[0] == CountedEvent.WEBHOOKS}
    about = "Attempts to send a webhook message."
    yield _counter("geval_webhook_attempts", about, sent, "outcome")


def waiting_jobs() -> dict[str, int]:
    """Return how many jobs wait or are in progress in each queue, up to MOST_COUNTED, from the rows
    that define the work."""
    active = list(EvaluationRun.objects.active().values_list("pk", flat=True))
    return {
        RUNS: _count(RunItem.objects.open().filter(run__in=active)),
        "uploads": _count(Upload.objects.neglected()),
        "webhooks": _count(WebhookDelivery.objects.due()),
        "quick": sum(_count(errands.objects.free()) for errands in QUICK_ERRANDS),
        "reports": _count(KeptReport.objects.free()),
    }


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


def _messages() -> dict[str, int]:
    """Return how many messages wait or are in progress, by kind of job, if the queue is in the
    database; a separate broker has its own metrics."""
    if settings.CELERY_BROKER_URL != PGMQ:
        return {}
    counts = dict.fromkeys(settings.QUEUES, 0)
    made = {name for (name,) in fetch_rows("SELECT queue_name FROM pgmq.list_queues()")}
    for job, queue in settings.QUEUES.items():
        if queue in made:  # created by the first message or worker
            table = connection.ops.quote_name(f"q_{queue}")
            counts[job] = int(fetch_value(f"SELECT count(*) FROM pgmq.{table}"))
    return counts


def _judge_names(judges: set[int]) -> dict[int, tuple[str, str]]:
    """Return the project's short name and the judge's name with its version."""
    judges_with_names = Judge.objects.filter(pk__in=judges).values_list(
        "pk", "project__slug", "name", "version"
    )
    return {pk: (slug, f"{name} v{version}") for pk, slug, name, version in judges_with_names}
