"""How runs keep to an endpoint's limits, and what rate limits at random cost: part of `make
bench-judge`.

The endpoint is the stand-in with a token bucket of 50 calls a second, for one project and for two,
or one that answers 16 calls at once and refuses others. What is measured there hardly depends on
the machine, so a goal that is missed fails the benchmark.
"""

import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

from benchmarks.few_connections import FewConnections
from benchmarks.site import StandIn, Worker, wait_for_workers

ALLOWED = 50.0
BURST = 50
LATENCY = "0.2"
LEAST_SHARE, MOST_CALLS = 0.95, 1.03
LEAST_AT_RANDOM = 0.6
# Of two projects: calls that may be refused, and Jain's index of what each got.
MOST_REFUSED, LEAST_JAIN = 0.03, 0.95
# So many calls are answered at once where a server is overloaded by more.
AT_ONCE = 16
MOST_CALLS_AN_ANSWER, LEAST_THROUGHPUT = 1.1, 0.9

Run = Callable[..., Any]
MakeJudge = Callable[..., Any]


@dataclass(frozen=True)
class Goal:
    """A figure with its goal; one that chance has a part in does not fail the benchmark."""

    name: str
    figure: float
    goal: float
    at_most: bool = False
    by_chance: bool = False

    @property
    def is_met(self) -> bool:
        return self.figure <= self.goal if self.at_most else self.figure >= self.goal

    def line(self) -> str:
        bound = "at most" if self.at_most else "at least"
        ratio = self.figure / self.goal if self.goal else 1.0 + self.figure
        return (
            f"{self.name:44} {self.figure:7.3f}    ({bound} {self.goal:.2f}; ratio {ratio:.2f})"
            f"{'' if self.is_met else '  MISSED'}"
        )


def measure_limits(project: Any, make_judge: MakeJudge, run: Run) -> list[Goal]:
    """A limit of 50 calls a second, with one worker and with two, with headers and without."""
    goals = []
    for workers, headers in ((1, "all"), (2, "all"), (1, "refused"), (1, "none"), (2, "none")):
        switches = ("--requests-per-second", f"{ALLOWED:g}", "--burst", f"{BURST}")
        with StandIn("--latency", LATENCY, *switches, "--limit-headers", headers) as standin:
            name = f"limited, {workers}, {headers}"
            judge = make_judge(project, standin.base_url, name)
            found = _with_workers(workers, lambda started, judge=judge: run(judge, started))
        last = judge.runs.first()
        # Where no header names the limit it is found by being refused, sooner or later.
        by_chance = headers == "none"
        about = f"{workers} worker{'' if workers == 1 else 's'}, headers: {headers}"
        print(found.line(f"50/s, {about}"))
        goals += [
            Goal(f"failed items, {about}", last.items.filter(state="failed").count(), 0, True),
            Goal(
                f"share of the limit, {about}",
                found.rate / ALLOWED,
                LEAST_SHARE,
                by_chance=by_chance,
            ),
            Goal(f"calls an item, {about}", found.calls / found.items, MOST_CALLS, True, by_chance),
        ]
    for goal in goals:
        print(goal.line())
    return goals


def measure_at_random(project: Any, make_judge: MakeJudge, run: Run) -> list[Goal]:
    """One of ten calls is refused at random: beside the same run without, in turn."""

    def rate_of(name: str, *switches: str) -> float:
        with StandIn("--latency", LATENCY, *switches) as standin:
            judge = make_judge(project, standin.base_url, name)
            found = _with_workers(1, lambda started: run(judge, started))
        print(found.line(name))
        return float(found.rate)

    refusing = ("--rate-limit-rate", "0.1", "--retry-after", "1")
    usual = rate_of("one worker, no rate limits")
    limited = rate_of("one worker, 10 % rate limits at random", *refusing)
    usual = (usual + rate_of("one worker, no rate limits, again")) / 2
    goal = Goal("rate under 10 % of rate limits, as a share", limited / usual, LEAST_AT_RANDOM)
    print(goal.line())
    return [goal]


def measure_two_projects(projects: Sequence[Any], make_judge: MakeJudge) -> list[Goal]:
    """Two projects at one server with one limit, each with a worker of the site's two, until the
    first of them has ended."""
    goals = []
    for headers in ("all", "none"):
        switches = ("--requests-per-second", f"{ALLOWED:g}", "--burst", f"{BURST}")
        with StandIn("--latency", LATENCY, *switches, "--limit-headers", headers) as standin:
            judges = [
                make_judge(project, standin.base_url, f"two projects, {headers}")
                for project in projects
            ]
            done, seconds = _with_workers(2, lambda _all, judges=judges: _until_one_ends(judges))
            by_status = standin.by_status
        refused = by_status.get("429", 0) / max(1, sum(by_status.values()))
        jain = sum(done) ** 2 / (len(done) * sum(count**2 for count in done))
        by_chance = headers == "none"  # as above
        about = f"two projects, headers: {headers}"
        print(f"{about}: {done[0]} and {done[1]} items in {seconds:.1f} s")
        goals += [
            Goal(
                f"share of the limit, {about}",
                by_status["200"] / (seconds * ALLOWED + BURST),
                LEAST_SHARE,
                by_chance=by_chance,
            ),
            Goal(f"share refused, {about}", refused, MOST_REFUSED, True, by_chance),
            Goal(f"Jain's index, {about}", jain, LEAST_JAIN),
        ]
    for goal in goals:
        print(goal.line())
    return goals


def _until_one_ends(judges: Sequence[Any]) -> tuple[list[int], float]:
    """Run judges at the same time until the first has ended; the items of each, and the seconds
    since the first call."""
    from evaluations.judging.runs.lifecycle import cancel_run
    from evaluations.judging.runs.starting import RunRequest, start_run

    runs = [
        start_run(judge, list(judge.project.criteria.all()), RunRequest(fresh=True))
        for judge in judges
    ]
    began = time.monotonic()
    while all(run.is_active for run in runs):
        if not any(run.calls for run in runs):
            began = time.monotonic()
        time.sleep(0.05)
        for run in runs:
            run.refresh_from_db()
    seconds = time.monotonic() - began
    done = [run.items.filter(state__in=("done", "failed")).count() for run in runs]
    for run in runs:
        if run.is_active:
            cancel_run(run.pk, "Measured.")
    return done, seconds


def measure_overload(project: Any, make_judge: MakeJudge, run: Run) -> list[Goal]:
    """A server that answers a few calls at once, and refuses others, beside one that gets no more
    than these."""
    usual = {}
    for workers in (1, 2):
        with StandIn("--latency", LATENCY) as standin:
            name = f"{AT_ONCE} in flight, none refused, {workers} workers"
            judge = make_judge(project, standin.base_url, name, in_flight=AT_ONCE)
            usual[workers] = _with_workers(
                workers, lambda started, judge=judge: run(judge, started)
            )
        print(usual[workers].line(name))
    few = ("--calls-at-once", f"{AT_ONCE}")
    goals = []
    for about, workers, switches, door in (
        ("503", 1, (*few, "--limit-headers", "none"), nullcontext),
        ("503, two workers", 2, (*few, "--limit-headers", "none"), nullcontext),
        ("503 with Retry-After", 1, few, nullcontext),
        ("connections refused", 1, (), _few_connections),
    ):
        with StandIn("--latency", LATENCY, *switches) as standin, door(standin) as server:
            overloaded = make_judge(project, server.base_url, f"overloaded, {about}")
            measured = _with_workers(workers, lambda started, judge=overloaded: run(judge, started))
            answers = standin.by_status["200"]
        last = overloaded.runs.first()
        print(measured.line(f"{AT_ONCE} answered at once, {about}"))
        unfinished = last.items.exclude(state="done").count()
        goals += [
            Goal(f"items without a score, {about}", unfinished, 0, True),
            Goal(
                f"calls an answer, {about}",
                measured.calls / answers,
                MOST_CALLS_AN_ANSWER,
                True,
            ),
            Goal(
                f"share of the possible rate, {about}",
                measured.rate / usual[workers].rate,
                LEAST_THROUGHPUT,
            ),
        ]
    for goal in goals:
        print(goal.line())
    return goals


def _few_connections(standin: StandIn) -> FewConnections:
    return FewConnections(standin, AT_ONCE)


def _with_workers(count: int, measure: Callable[[Sequence[Worker]], Any]) -> Any:
    workers = [Worker() for _ in range(count)]
    try:
        wait_for_workers(count)
        return measure(workers)
    finally:
        for worker in workers:
            worker.stop()
