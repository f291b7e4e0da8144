"""A worker's calls leave freely until a limit is met, then at their moments, in order."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from geval.llm.errors import EndpointError, ErrorKind
from geval.llm.pacer import OPENING_SECONDS, Pacer
from geval.llm.pacing import Pace, PacingTurn, WorkerReport
from geval.llm.rate_headers import RateAllowance, RateHeaders

LIMITED = EndpointError(
    ErrorKind.RATE_LIMIT,
    "Slow down.",
    retry_after=0.02,
    limits=RateHeaders(requests=RateAllowance(50, 0, 1.0)),
)


class Shared:
    """The shared pace, on the clock of the test, which runs while somebody sleeps."""

    def __init__(self, pace: Pace | None = None) -> None:
        self.pace = pace or Pace()
        self.now = 1000.0
        self.seen: list[WorkerReport] = []

    async def exchange(self, seen: WorkerReport, wanted: int) -> PacingTurn:
        self.seen.append(seen)
        self.pace, slots = self.pace.learned(seen, self.now).reserved(wanted, self.now)
        return PacingTurn(self.pace, slots, self.now)

    async def look(self) -> Pace:
        return self.pace

    async def sleep(self, seconds: float) -> None:
        self.now += seconds
        await asyncio.sleep(0)

    def pacer(self, *, opens: bool = True) -> Pacer:
        return Pacer(
            self.exchange, self.look, tokens_each=100, most=64, opens=opens, sleep=self.sleep,
            clock=lambda: self.now,
        )  # fmt: skip


def run(main: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(main())


def test_the_first_calls_leave_ever_faster_and_then_freely() -> None:
    shared = Shared()
    left: list[float] = []

    async def main() -> None:
        pacer = shared.pacer()
        for _ in range(300):
            pacer.ended(await pacer.turn())
            left.append(shared.now - 1000.0)

    run(main)

    assert sum(at < 0.05 for at in left) < 12
    assert left[-1] <= OPENING_SECONDS + 0.01
    assert shared.seen == []


def test_calls_that_follow_others_which_went_free_leave_at_once() -> None:
    shared = Shared()

    async def main() -> None:
        pacer = shared.pacer(opens=False)
        for _ in range(64):
            pacer.ended(await pacer.turn())

    run(main)

    assert shared.now == 1000.0


def test_calls_that_need_not_open_slowly_still_heed_a_limit() -> None:
    shared = Shared()
    left: list[float] = []

    async def main() -> None:
        pacer = shared.pacer(opens=False)
        pacer.ended(await pacer.turn(), LIMITED)
        for _ in range(100):
            pacer.ended(await pacer.turn())
            left.append(shared.now)

    run(main)

    assert 1.9 < left[-1] - left[0] < 2.2


def test_after_a_sign_each_call_waits_for_its_moment() -> None:
    shared = Shared()
    left: list[float] = []

    async def main() -> None:
        pacer = shared.pacer()
        for _ in range(60):
            number = await pacer.turn()
        pacer.ended(number, LIMITED)
        for _ in range(100):
            pacer.ended(await pacer.turn())
            left.append(shared.now)

    run(main)

    assert 1.9 < left[-1] - left[0] < 2.2
    assert shared.seen[0].sign is not None


def test_a_single_rate_limit_says_nothing_about_a_pace() -> None:
    shared = Shared()

    async def main() -> None:
        pacer = shared.pacer()
        for number in range(200):
            error = EndpointError(ErrorKind.RATE_LIMIT, "Busy.") if number % 10 == 0 else None
            pacer.ended(await pacer.turn(), error)

    run(main)

    assert shared.seen == []


def test_what_other_workers_learned_is_noticed() -> None:
    shared = Shared(Pace(rate=50, next_at=1000.0, seen_at=1000.0, calm_since=1000.0))

    async def main() -> None:
        pacer = shared.pacer()
        await pacer.look_up()
        for _ in range(51):
            pacer.ended(await pacer.turn())

    run(main)

    assert 1000.7 < shared.now < 1001.2


PACED = Pace(rate=50, next_at=1000.0, seen_at=1000.0, calm_since=1000.0)


def test_a_call_that_met_a_limit_has_the_pace_looked_up() -> None:
    shared = Shared()

    async def main() -> None:
        pacer = shared.pacer()
        number = await pacer.turn()
        shared.pace = PACED
        pacer.ended(number, EndpointError(ErrorKind.RATE_LIMIT, "Busy."))
        assert not pacer.is_held_back
        await pacer.look_up()
        assert pacer.is_held_back

    run(main)


def test_at_a_closed_endpoint_others_wait_until_the_single_call_has_passed() -> None:
    shared = Shared(Pace(seen_at=1000.0).closed(1000.0))
    events: list[str] = []

    async def main() -> None:
        pacer = shared.pacer()
        await pacer.look_up()
        first = await pacer.turn()
        others = [asyncio.create_task(pacer.turn()) for _ in range(5)]
        await asyncio.sleep(0.01)
        events.append(f"{sum(task.done() for task in others)} left")
        pacer.ended(first)
        await asyncio.gather(*others)
        events.append("all left")

    run(main)

    assert events == ["0 left", "all left"]
    assert [seen.trial_passed for seen in shared.seen] == [None, True]


def test_a_refused_single_call_keeps_the_endpoint_closed() -> None:
    shared = Shared(Pace(seen_at=1000.0).closed(1000.0))

    async def main() -> None:
        pacer = shared.pacer()
        await pacer.look_up()
        pacer.ended(await pacer.turn(), EndpointError(ErrorKind.QUOTA, "No credit."))
        pacer.ended(await pacer.turn(), asyncio.CancelledError())
        await pacer.turn()

    run(main)

    assert [seen.trial_passed for seen in shared.seen] == [None, False, None]
    assert shared.pace.closed_for == 2.0
