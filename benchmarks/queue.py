"""`make bench-queue`: up to 50 workers on one run's queue, with answers that take a second; then
what one worker takes (one_worker.py), and how workers are shared among many runs (fairness.py).

In the first part workers are threads that claim, wait and store as a worker does; only the endpoint
is left out. What is counted is what the queue itself takes: every item is stored once, and the
workers' share of the rate at which they would finish if claiming and storing took no time.
"""

import statistics
import sys
import threading
import time
from typing import Any

from benchmarks import fairness
from benchmarks.one_worker import measure_worker
from benchmarks.site import temporary_site

WORKERS = (1, 10, 50)
AT_ONCE = 16
ANSWER_SECONDS = 1.0
# The machine's cores are shared with the database; 50 workers ask for 800 items a second.
ROUNDS = 8
GOAL = 0.5


def make_run(items: int) -> Any:
    from evaluations.models import (
        CandidateOutput,
        Criterion,
        Document,
        EvaluationRun,
        Judge,
        Project,
        RunItem,
        System,
    )

    project = Project.objects.create(name=f"Queue {items}", slug=f"queue-{items}")
    criterion = Criterion.objects.create(project=project, name="quality")
    system = System.objects.create(project=project, name="s")
    judge = Judge.objects.create(project=project, name="j", kind="rouge")
    documents = Document.objects.bulk_create(
        Document(project=project, doc_id=str(n), source="A text.") for n in range(items)
    )
    outputs = CandidateOutput.objects.bulk_create(
        CandidateOutput(document=document, system=system, text="A summary.")
        for document in documents
    )
    run = EvaluationRun.objects.create(project=project, judge=judge, state="running")
    RunItem.objects.bulk_create(
        RunItem(run=run, output=output, criterion=criterion) for output in outputs
    )
    return run


class Worker(threading.Thread):
    """One worker: claims, waits as if for answers, stores."""

    def __init__(self, run: Any, number: int) -> None:
        super().__init__()
        self.run_, self.name = run, f"worker-{number}"
        self.claims: list[float] = []
        self.stores: list[float] = []
        self.stored = 0

    def run(self) -> None:
        from django.db import connection

        from evaluations.judging.runs.leases import claim
        from evaluations.judging.runs.results import FinishedItem, store
        from geval.llm.scoring import Scored

        try:
            while True:
                began = time.perf_counter()
                items = claim(self.run_.pk, self.name, most=AT_ONCE)
                self.claims.append(time.perf_counter() - began)
                if not items:
                    return
                time.sleep(ANSWER_SECONDS)
                finished = [FinishedItem(item, "", Scored.plain(3.0)) for item in items]
                began = time.perf_counter()
                self.stored += store(self.run_, finished, self.name)
                self.stores.append(time.perf_counter() - began)
        finally:
            connection.close()


def measure(count: int) -> float:
    """The share of the rate that workers would have without a queue."""
    items = count * AT_ONCE * ROUNDS
    run = make_run(items)
    workers = [Worker(run, number) for number in range(count)]
    began = time.perf_counter()
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    seconds = time.perf_counter() - began
    stored = sum(worker.stored for worker in workers)
    if stored != items or run.scores.count() != items:
        sys.exit(f"{items} items were laid out, {stored} stored: some were lost or stored twice.")
    share = ROUNDS * ANSWER_SECONDS / seconds
    claims, stores = (
        1000 * statistics.quantiles([one for worker in workers for one in times(worker)], n=20)[18]
        for times in (lambda worker: worker.claims, lambda worker: worker.stores)
    )
    print(
        f"{count:3} workers: {stored / seconds:6.0f} items/s, share {share:.2f}; p95 of a claim"
        f" {claims:.0f} ms, of storing {AT_ONCE} results {stores:.0f} ms",
        flush=True,
    )
    return share


def main() -> None:
    with temporary_site():
        shares = [measure(count) for count in WORKERS]
        measure_worker()
        goals = fairness.measure()
    for goal in goals:
        print(goal.line())
    print(
        f"goal: every item once, and a share of {GOAL} with {WORKERS[-1]} workers:"
        f" {shares[-1]:.2f} (ratio {shares[-1] / GOAL:.2f})"
    )
    if missed := [goal.name for goal in goals if not (goal.is_met or goal.by_chance)]:
        sys.exit(f"Missed: {'; '.join(missed)}.")


if __name__ == "__main__":
    main()
