"""How runs keep to an endpoint's rate limit, and what rate limits at random cost: part of `make
bench-judge`.

The endpoint is the stand-in with a token bucket of 50 calls a second. What is measured there hardly
depends on the machine, so a goal that is missed fails the benchmark.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.site import StandIn, Worker, wait_for_workers

ALLOWED = 50.0
BURST = 50
LATENCY = "0.2"
LEAST_SHARE, MOST_CALLS = 0.95, 1.03
LEAST_AT_RANDOM = 0.6

Run = Callable[..., Any]
MakeJudge = Callable[[Any, str, str], Any]


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


def _with_workers(count: int, measure: Callable[[Sequence[Worker]], Any]) -> Any:
    workers = [Worker() for _ in range(count)]
    try:
        wait_for_workers(count)
        return measure(workers)
    finally:
        for worker in workers:
            worker.stop()
