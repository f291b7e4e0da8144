"""The pace where answers take time, on a clock that runs while everybody waits: refusals arrive
first, answers later, and an endpoint that is closed for a while is not taken for a slow one."""

import asyncio
import random
import selectors
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from geval.llm.errors import EndpointError, ErrorKind
from geval.llm.pacer import Pacer
from geval.llm.pacing import Pace, PacingTurn, WorkerReport
from tests.standin.limiting import CallLimits

# Of the calls: so many at once, each answered within so many seconds.
AT_ONCE, LATENCY = 16, 0.2
BEGIN = 10.0


class _Selector(selectors.DefaultSelector):
    """Lets the time of a waiting loop pass at once."""

    loop: "_Loop"

    def select(self, timeout: float | None = None) -> Any:
        ready = super().select(0)
        if not ready and timeout:
            self.loop.now += timeout
        return ready


class _Loop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self.now = 0.0
        selector = _Selector()
        selector.loop = self
        super().__init__(selector)

    def time(self) -> float:
        return self.now


@dataclass
class Calls:
    """When calls were answered, and refused."""

    answered: list[float]
    refused: list[float]

    def rate(self, since: float, until: float) -> float:
        """Answers a second."""
        return sum(since <= at < until for at in self.answered) / (until - since)

    def refused_share(self, since: float, until: float) -> float:
        refused = sum(since <= at < until for at in self.refused)
        return refused / (refused + self.rate(since, until) * (until - since))

    def back_after(self, end: float) -> float:
        """Seconds from the end of a burst until 80 % of the old rate."""
        usual = self.rate(BEGIN / 12, BEGIN / 4)
        return next(
            tenths / 10
            for tenths in range(1000)
            if self.rate(end + tenths / 10, end + tenths / 10 + 2) >= 0.8 * usual
        )


def simulate(
    passes: Callable[[float], bool],
    *,
    seconds: float,
    refused_in: float = 0.01,
    at_once: int = AT_ONCE,
    latency: float = LATENCY,
    workers: int = 1,
) -> Calls:
    """Let workers call for so long, each by a pacer, at a pace that they share."""
    loop, dice, calls = _Loop(), random.Random(0), Calls([], [])
    shared = [Pace()]

    async def exchange(seen: WorkerReport, wanted: int) -> PacingTurn:
        await asyncio.sleep(0.002)
        now = loop.time()
        shared[0], slots = shared[0].learned(seen, now).reserved(wanted, now)
        return PacingTurn(shared[0], slots, now)

    async def look() -> Pace:
        return shared[0]

    pacers = [
        Pacer(exchange, look, tokens_each=100, most=at_once // workers, clock=loop.time)
        for _ in range(workers)
    ]

    async def call(pacer: Pacer) -> None:
        number = await pacer.turn()
        if passes(loop.time()):
            await asyncio.sleep(latency * dice.uniform(0.8, 1.2))
            calls.answered.append(loop.time())
            pacer.ended(number)
        else:
            await asyncio.sleep(refused_in)
            calls.refused.append(loop.time())
            pacer.ended(number, EndpointError(ErrorKind.RATE_LIMIT, "Slow down."))
        await pacer.look_up()

    async def keep_calling(pacer: Pacer) -> None:
        while loop.time() < seconds:
            await call(pacer)

    async def main() -> None:
        await asyncio.gather(*(keep_calling(pacers[at % workers]) for at in range(at_once)))

    try:
        loop.run_until_complete(main())
    finally:
        loop.close()
    return calls


@pytest.mark.parametrize("refused_in", [0.01, 0.2])
@pytest.mark.parametrize("length", [2, 60])
def test_after_a_burst_of_rate_limits_the_old_rate_is_back_in_ten_seconds(
    length: float, refused_in: float
) -> None:
    end = BEGIN + length

    calls = simulate(
        lambda now: not BEGIN <= now < end, seconds=end + 20, refused_in=refused_in
    )  # fmt: skip

    assert calls.back_after(end) <= 10
    assert len(calls.refused) <= 70 + length / 5


@pytest.mark.parametrize("rate", [5, 50])
def test_a_steady_limit_is_used_up_and_seldom_met(rate: float) -> None:
    now = [0.0]
    limits = CallLimits(rate=rate, burst=int(rate), clock=lambda: now[0])

    def passes(at: float) -> bool:
        now[0] = at
        return limits.passes()

    calls = simulate(passes, seconds=200, at_once=64)

    assert calls.rate(60, 200) >= 0.99 * rate
    assert calls.refused_share(60, 200) <= 0.06


def test_a_limit_that_falls_is_kept_although_the_old_rate_is_tried_again() -> None:
    now = [0.0]
    limits = CallLimits(rate=50, burst=50, clock=lambda: now[0])

    def passes(at: float) -> bool:
        now[0] = at
        limits.rate = 50 if at < 100 else 10
        return limits.passes()

    calls = simulate(passes, seconds=200, at_once=64)

    assert calls.rate(130, 200) >= 0.75 * 10
    assert calls.refused_share(130, 200) <= 0.06
