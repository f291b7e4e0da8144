"""All metrics as one text: from the database, and from counters of the web processes.

Values that several processes change together (items, tokens, queues, workers) are read from the
database on request, so they are right however many processes there are. Every query reads counters,
or a small or bounded number of rows; none reads scores.
"""

import os
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.db import Error as DatabaseError
from django.db.models import Count, Sum
from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from evaluations.models import (
    CountedEvent,
    EvaluationRun,
    EventCount,
    Judge,
    RunState,
    UpkeepJob,
    WorkerHeartbeat,
    WorkerSlot,
)
from evaluations.operations.waiting import (
    held_back,
    longest_silence,
    messages,
    served_runs,
    stale_leases,
    waiting_jobs,
    waiting_runs,
)
from geval.llm.cost import cost
from geval.llm.run_parameters import RunParameters
from geval_site.embedded.errors import EmbeddedServerError
from geval_site.metrics_folder import VARIABLE
from geval_site.version import __version__

CONTENT_TYPE = CONTENT_TYPE_LATEST
JUDGE = ["project", "judge"]
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
        version = GaugeMetricFamily("geval_info", "The version of the site.", labels=["version"])
        version.add_metric([__version__], 1)
        yield version
        up = GaugeMetricFamily("geval_database_up", "Whether the database answered.")
        try:
            metrics = [*_items(), *_spending(), *_states(), *_events()]
        except (DatabaseError, EmbeddedServerError, OSError):
            up.add_metric([], 0)
            yield up
            return
        up.add_metric([], 1)
        yield up
        yield from metrics


class _OwnProcess(Collector):
    """Collects this process's counters, if it is the only process."""

    def collect(self) -> Iterator[Metric]:
        yield from REGISTRY.collect()


def _items() -> Iterator[Metric]:
    items = CounterMetricFamily(
        "geval_items", "Items that a judge finished.", labels=[*JUDGE, "outcome"]
    )
    failures = CounterMetricFamily(
        "geval_item_failures", "Items that failed, by reason.", labels=[*JUDGE, "reason"]
    )
    rows = list(
        EventCount.objects.filter(event=CountedEvent.ITEMS).values_list("judge", "reason", "count")
    )
    names = _judge_names({judge for judge, _, _ in rows})
    outcomes: dict[tuple[str, str, str], int] = {}
    reasons: dict[tuple[str, str, str], int] = {}
    for judge, reason, count in rows:
        named = names.get(judge, REMOVED)
        outcome = (*named, "failed" if reason else "scored")
        outcomes[outcome] = outcomes.get(outcome, 0) + count
        if reason:
            reasons[*named, reason] = reasons.get((*named, reason), 0) + count
    _add_all(items, outcomes)
    _add_all(failures, reasons)
    yield items
    yield failures


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
    calls = CounterMetricFamily("geval_calls", "Requests sent to endpoints.", labels=JUDGE)
    hits = CounterMetricFamily(
        "geval_stored_replies_used", "Items answered without their own call.", labels=JUDGE
    )
    tokens = CounterMetricFamily("geval_tokens", "Tokens used.", labels=[*JUDGE, "direction"])
    money = CounterMetricFamily(
        "geval_money", "Cost by the judges' own prices, in their currency.", labels=JUDGE
    )
    spending = spending_by_judge()
    names = _judge_names(set(spending))
    families = {family.name: family for family in (calls, hits, tokens, money)}
    totals: dict[str, dict[tuple[str, ...], float]] = {name: {} for name in families}
    for judge, spent in spending.items():
        named = names[judge]
        for family, labels, value in (
            (calls, named, spent.calls),
            (hits, named, spent.cache_hits),
            (tokens, (*named, "prompt"), spent.prompt_tokens),
            (tokens, (*named, "completion"), spent.completion_tokens),
            (money, named, float(spent.money)),
        ):
            totals[family.name][labels] = totals[family.name].get(labels, 0) + value
    for name, family in families.items():
        _add_all(family, totals[name])
        yield family


def _states() -> Iterator[Metric]:
    depth = GaugeMetricFamily(
        "geval_queue_depth", "Jobs that wait or are in work, at most 100 000.", labels=["queue"]
    )
    for job, number in waiting_jobs().items():
        depth.add_metric([job], number)
    yield depth
    stale = GaugeMetricFamily("geval_stale_leases", "Items whose worker was lost, and not claimed.")
    stale.add_metric([], stale_leases())
    yield stale
    runs = GaugeMetricFamily("geval_runs", "Runs of judges, by state.", labels=["state"])
    of_judges = EvaluationRun.objects.of_judges_that_run().order_by()
    numbers = dict(of_judges.values_list("state").annotate(number=Count("pk")))
    for state in RunState.values:
        runs.add_metric([state], numbers.get(state, 0))
    yield runs
    workers = GaugeMetricFamily("geval_workers", "Live workers that take a job.", labels=["queue"])
    alive = [set(jobs) for jobs in WorkerHeartbeat.objects.alive().values_list("jobs", flat=True)]
    for job in settings.QUEUES:
        workers.add_metric([job], sum(job in jobs for jobs in alive))
    yield workers
    yield from _service_of_runs()
    yield from _upkeep()


def _service_of_runs() -> Iterator[Metric]:
    waiting = GaugeMetricFamily("geval_runs_waiting", "Runs with work that no worker serves.")
    longest = GaugeMetricFamily(
        "geval_run_waiting_seconds", "How long the run has waited that has waited longest."
    )
    since = waiting_runs()
    waiting.add_metric([], len(since))
    longest.add_metric([], max((each.total_seconds() for each in since), default=0))
    yield waiting
    yield longest
    served = GaugeMetricFamily("geval_runs_served", "Runs that workers serve.")
    served.add_metric([], served_runs())
    yield served
    silent = GaugeMetricFamily(
        "geval_run_silent_seconds",
        "Longest time that a running run has gone without a result.",
    )
    silent.add_metric([], longest_silence().total_seconds())
    yield silent
    held = GaugeMetricFamily(
        "geval_runs_held_back", "Runs that do less than they could, by reason.", labels=["reason"]
    )
    for reason, number in held_back().items():
        held.add_metric([reason], number)
    yield held
    sent = GaugeMetricFamily(
        "geval_messages", "Messages in the queue of the database.", labels=["queue"]
    )
    for job, number in messages().items():
        sent.add_metric([job], number)
    yield sent
    slots = GaugeMetricFamily(
        "geval_slots", "Runs that live workers could serve at once, and do.", labels=["state"]
    )
    of_live_workers = WorkerSlot.objects.of_live_workers().order_by()
    counts = of_live_workers.aggregate(all=Count("pk"), busy=Count("taken_at"))
    slots.add_metric(["free"], counts["all"] - counts["busy"])
    slots.add_metric(["busy"], counts["busy"])
    yield slots
    frozen = GaugeMetricFamily("geval_workers_frozen", "Workers whose threads do not answer.")
    frozen.add_metric([], WorkerHeartbeat.objects.frozen().count())
    yield frozen


def _upkeep() -> Iterator[Metric]:
    trouble = GaugeMetricFamily(
        "geval_upkeep_trouble", "Whether a periodic job failed or is overdue.", labels=["job"]
    )
    seconds = GaugeMetricFamily(
        "geval_upkeep_seconds", "How long the last turn of a periodic job took.", labels=["job"]
    )
    for job in UpkeepJob.objects.all():
        trouble.add_metric([job.name], bool(job.trouble))
        if job.seconds is not None:
            seconds.add_metric([job.name], job.seconds)
    yield trouble
    yield seconds


def _events() -> Iterator[Metric]:
    lost = CounterMetricFamily("geval_leases_lost", "Items claimed again after a lost worker.")
    sent = CounterMetricFamily(
        "geval_webhook_attempts", "Attempts to send a webhook message.", labels=["outcome"]
    )
    counts = EventCount.objects.exclude(event=CountedEvent.ITEMS)
    rows = {(row.event, row.reason): row.count for row in counts}
    lost.add_metric([], rows.get((CountedEvent.LEASES_LOST, ""), 0))
    for (event, reason), count in rows.items():
        if event == CountedEvent.WEBHOOKS:
            sent.add_metric([reason], count)
    yield lost
    yield sent


def _judge_names(judges: set[int]) -> dict[int, tuple[str, str]]:
    """Return the project's short name and the judge's name with its version."""
    judges_with_names = Judge.objects.filter(pk__in=judges).values_list(
        "pk", "project__slug", "name", "version"
    )
    return {pk: (slug, f"{name} v{version}") for pk, slug, name, version in judges_with_names}


def _add_all(family: Any, values: dict[Any, Any]) -> None:
    for labels, value in values.items():
        family.add_metric(list(labels), value)
