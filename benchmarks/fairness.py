"""How workers are shared among runs: part of `make bench-queue`.

Twenty projects start a run each on two workers of three slots, with the stand-in answering after a
second; later a short run comes in between. Then one run is alone for some minutes (`MINUTES=60`:
an hour), and fifty workers ask for their next run of five hundred.
"""

import os
import statistics
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from benchmarks.limits import Goal
from benchmarks.site import StandIn, Worker, wait_for_workers

PROJECTS, ITEMS, SHORT_ITEMS = 20, 160, 16
WORKERS, SLOTS_EACH = 2, 3
SLOTS = WORKERS * SLOTS_EACH
IN_FLIGHT, ANSWER_SECONDS = 8, 1.0
LOOK_SECONDS = 0.25
MOST_SECONDS = 1200.0
BEGIN_SECONDS, FAIR_SECONDS, GAP_SECONDS, JAIN = 30.0, 30.0, 2.0, 0.95
SIMULATED_WORKERS, WAITING_RUNS, PICK_MILLISECONDS = 50, 500, 50.0
SLICES = 6


def make_judge(name: str, items: int, base_url: str) -> Any:
    """A project of so many outputs with a judge that asks the stand-in."""
    from django.conf import settings

    from evaluations.models import (
        CandidateOutput,
        Criterion,
        Document,
        Endpoint,
        Judge,
        Project,
        System,
    )

    settings.ALLOW_PRIVATE_ENDPOINTS = True
    project = Project.objects.create(name=name, slug=name.lower().replace(" ", "-"))
    Criterion.objects.create(project=project, name="fluency")
    system = System.objects.create(project=project, name="s")
    documents = Document.objects.bulk_create(
        Document(project=project, doc_id=f"{n}", source=f"The ferry {n} of {name} sails at noon.")
        for n in range(items)
    )
    CandidateOutput.objects.bulk_create(
        CandidateOutput(document=document, system=system, text=f"Ferry {document.doc_id} sails.")
        for document in documents
    )
    endpoint = Endpoint.objects.create(project=project, name="stand-in", base_url=base_url)
    return Judge.objects.create(
        project=project, name="j", kind="geval", endpoint=endpoint, model="offline-stand-in",
        mode="logprobs", use_steps=False, concurrency=IN_FLIGHT,
    )  # fmt: skip


def start(judge: Any) -> Any:
    from evaluations.judging.runs.starting import start_run

    return start_run(judge, list(judge.project.criteria.all()))


def finished(runs: list[Any]) -> dict[int, int]:
    """How many items of each run have a score."""
    from django.db.models import Count

    from evaluations.models import Score

    rows = Score.objects.filter(run__in=runs).order_by().values_list("run").annotate(n=Count("pk"))
    return dict.fromkeys((run.pk for run in runs), 0) | dict(rows)


def messages() -> int:
    """How many messages are in the queue of runs."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pgmq.q_geval")
        return int(cursor.fetchone()[0])


@contextmanager
def workers(number: int, slots: int) -> Iterator[None]:
    started = [Worker("--queues", "geval", concurrency=slots) for _ in range(number)]
    wait_for_workers(number)
    try:
        yield
    finally:
        for worker in started:
            worker.stop()


@dataclass
class Seen:
    """What a look every quarter of a second shows of many runs."""

    begun: dict[int, float] = field(default_factory=dict)
    ended: dict[int, float] = field(default_factory=dict)
    half_way: dict[int, int] = field(default_factory=dict)
    most_messages: int = 0


def jain(progress: list[float]) -> float:
    """Jain's index of fairness (Jain, Chiu and Hawe, 1984): 1 where all have the same."""
    squares = sum(value * value for value in progress)
    return sum(progress) ** 2 / (len(progress) * squares) if squares else 0.0


def measure_projects(base_url: str) -> list[Goal]:
    """Twenty projects on six slots, and a short run that comes when half of all is done."""
    judges = [make_judge(f"Queue {n}", ITEMS, base_url) for n in range(PROJECTS)]
    late = make_judge("Short", SHORT_ITEMS, base_url)
    seen = Seen()
    with workers(WORKERS, SLOTS_EACH):
        began = time.monotonic()
        runs = [start(judge) for judge in judges]
        short, short_began = None, 0.0
        while len(seen.ended) < PROJECTS + 1 and time.monotonic() - began < MOST_SECONDS:
            time.sleep(LOOK_SECONDS)
            now = time.monotonic() - began
            done = finished(runs + ([short] if short else []))
            seen.most_messages = max(seen.most_messages, messages())
            for pk, count in done.items():
                wanted = SHORT_ITEMS if short and pk == short.pk else ITEMS
                if count:
                    seen.begun.setdefault(pk, now)
                if count == wanted:
                    seen.ended.setdefault(pk, now)
            if short is None and sum(done.values()) >= PROJECTS * ITEMS / 2:
                seen.half_way, short_began = done, now
                short = start(late)
    last = max(seen.ended.values(), default=MOST_SECONDS)
    begun = [seen.begun.get(run.pk, MOST_SECONDS) for run in runs]
    taken = seen.ended.get(short.pk, MOST_SECONDS) - short_began if short else MOST_SECONDS
    # Of what the slots do in a second, one project of twenty-one may have its part.
    rate = SLOTS * IN_FLIGHT / ANSWER_SECONDS
    fair = SHORT_ITEMS / (rate / (PROJECTS + 1))
    print(
        f"{PROJECTS} projects of {ITEMS} items on {SLOTS} slots: all done after {last:.0f} s"
        f" ({PROJECTS * ITEMS / rate:.0f} s without any loss), {len(seen.ended)} of"
        f" {PROJECTS + 1} runs ended; a short run's fair share takes {fair:.1f} s",
        flush=True,
    )
    return [
        Goal("seconds until every project has begun", max(begun), BEGIN_SECONDS, True),
        Goal("Jain's index half way", jain([float(n) for n in seen.half_way.values()]), JAIN),
        Goal("seconds of a short run above its share", taken - fair, FAIR_SECONDS, True),
        Goal("messages in the queue at most", seen.most_messages, SLOTS, True),
        Goal("runs that did not end", PROJECTS + 1 - len(seen.ended), 0, True),
    ]


def measure_alone(base_url: str, minutes: float) -> list[Goal]:
    """The longest time without a result of a run that nobody shares workers with."""
    from evaluations.judging.runs.lifecycle import cancel_run

    rate = 2 * IN_FLIGHT / ANSWER_SECONDS
    judge = make_judge("Alone", int(rate * 60 * minutes * 1.2), base_url)
    gap, count = 0.0, 0
    with workers(1, 2):
        run = start(judge)
        while not finished([run])[run.pk]:
            time.sleep(0.1)
        end, last = time.monotonic() + 60 * minutes, time.monotonic()
        while time.monotonic() < end:
            time.sleep(0.1)
            done = finished([run])[run.pk]
            if done > count:
                gap, count, last = max(gap, time.monotonic() - last), done, time.monotonic()
        gap = max(gap, time.monotonic() - last)
        cancel_run(run.pk, "The time is over.")
    print(f"one run alone for {minutes:g} minutes: {count:,} items", flush=True)
    return [Goal("seconds without a result, at most", gap, GAP_SECONDS, True)]


def measure_picks() -> list[Goal]:
    """How long it takes fifty workers to be given a run of five hundred that wait."""
    from django.db import connection

    from evaluations.judging.runs.scheduling import choose_run
    from evaluations.judging.runs.serving import TURN_SECONDS
    from evaluations.models import EvaluationRun, RunState, WorkerSlot

    for n in range(WAITING_RUNS):
        judge = make_judge(f"Waiting {n}", 2, "http://127.0.0.1:9/v1")
        start(judge)
    assert EvaluationRun.objects.filter(state=RunState.PREPARING).count() >= WAITING_RUNS
    times: list[float] = []

    def work(number: int) -> None:
        name = f"simulated:{number}"
        WorkerSlot.objects.open(name, 1)
        slot = WorkerSlot.objects.take(name)
        assert slot
        try:
            for _ in range(SLICES):
                # As often as slots ask, and not all at once.
                time.sleep(TURN_SECONDS * (0.8 + 0.4 * number / SIMULATED_WORKERS))
                begun = time.perf_counter()
                assert choose_run(slot) is not None
                times.append(1000 * (time.perf_counter() - begun))
        finally:
            connection.close()

    threads = [threading.Thread(target=work, args=[n]) for n in range(SIMULATED_WORKERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(f"{SIMULATED_WORKERS} workers, {WAITING_RUNS} waiting runs: {len(times)} picks")
    p95 = statistics.quantiles(times, n=20)[18]
    # How long a query takes depends on the machine.
    return [Goal("milliseconds to pick a run, p95", p95, PICK_MILLISECONDS, True, by_chance=True)]


def measure() -> list[Goal]:
    """All of it; prints what was seen."""
    with StandIn("--latency", f"{ANSWER_SECONDS:g}") as standin:
        goals = measure_projects(standin.base_url)
        goals += measure_alone(standin.base_url, float(os.environ.get("MINUTES", "6")))
    return goals + measure_picks()
