"""One worker of four slots: how soon it is there, how soon it takes a run, how much it does and
holds. Part of `make bench-queue`; the candidates in evaluations/judging/README.md were measured
with it.

`BROKER=redis://…` or `amqp://…` measures with that broker.
"""

import os
import statistics
import time
from pathlib import Path
from typing import Any

from benchmarks.fairness import finished, make_judge, start
from benchmarks.site import StandIn, Worker, wait_for_workers

SLOTS, WAKES = 4, 10
PROJECTS, ITEMS = 4, 1500


def until_done(runs: list[Any], items: int) -> None:
    while sum(finished(runs).values()) < items * len(runs):
        time.sleep(0.01)


def megabytes(pids: list[int]) -> float:
    """What processes hold, with each one's share of what they share."""
    kilobytes = 0
    for pid in pids:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        kilobytes += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return kilobytes / 1024


def measure_worker() -> None:
    """Print what one worker takes; no goals, as all of it depends on the machine."""
    with StandIn() as standin:
        begun = time.monotonic()
        worker = Worker("--queues", "geval", concurrency=SLOTS)
        try:
            wait_for_workers(1)
            ready = time.monotonic() - begun
            wakes = []
            for n in range(WAKES):
                judge = make_judge(f"Wake {n}", 1, standin.base_url)
                time.sleep(1.3)  # not in step with what is looked at every second
                begun = time.monotonic()
                until_done([start(judge)], 1)
                wakes.append(time.monotonic() - begun)
            judges = [make_judge(f"Many {n}", ITEMS, standin.base_url) for n in range(PROJECTS)]
            begun, cpu = time.monotonic(), worker.cpu_seconds
            until_done([start(judge) for judge in judges], ITEMS)
            seconds, items = time.monotonic() - begun, PROJECTS * ITEMS
            print(
                f"one worker of {SLOTS} slots, broker {os.environ.get('BROKER', 'PostgreSQL')}:"
                f" ready after {ready:.1f} s; idle, one item is done after"
                f" {statistics.median(wakes):.2f} s (at most {max(wakes):.2f} s);"
                f" {items / seconds:.0f} items/s without latency,"
                f" {1000 * (worker.cpu_seconds - cpu) / items:.1f} ms of CPU each;"
                f" {megabytes(worker.pids):.0f} MB"
            )
        finally:
            worker.stop()
