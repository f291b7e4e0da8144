"""The throttle lets in as many as its limit, backs off at rate limits, and recovers."""

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from evaluations.llm.throttle import Throttle


class Clock:
    """Time as the test sets it."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def most_at_once(throttle: Throttle, calls: int) -> int:
    seen = 0

    async def one() -> None:
        nonlocal seen
        async with throttle:
            seen = max(seen, throttle.in_flight)
            await asyncio.sleep(0)
        throttle.succeeded()

    async def main() -> None:
        await asyncio.gather(*(one() for _ in range(calls)))

    asyncio.run(main())
    return seen


def test_no_more_than_the_limit_are_in_flight() -> None:
    assert most_at_once(Throttle(7), 100) == 7


def test_a_rate_limit_takes_a_third_away_and_a_burst_of_them_counts_once() -> None:
    clock = Clock()
    throttle = Throttle(60, clock=clock)

    for _ in range(20):
        throttle.was_limited()

    assert 38 < throttle.limit < 42
    clock.now = 1.5
    throttle.was_limited()
    assert 25 < throttle.limit < 29


def test_it_recovers_one_call_a_round_up_to_the_most() -> None:
    throttle = Throttle(10, clock=Clock())
    throttle.was_limited()

    for _ in range(7):
        throttle.succeeded()
    assert 7 < throttle.limit < 8.2
    for _ in range(1000):
        throttle.succeeded()
    assert throttle.limit == 10


@given(st.lists(st.booleans(), max_size=200), st.integers(1, 50))
def test_the_limit_stays_between_one_and_the_most(answers: list[bool], most: int) -> None:
    clock = Clock()
    throttle = Throttle(most, clock=clock)

    for good in answers:
        clock.now += 0.7
        throttle.succeeded() if good else throttle.was_limited()

    assert 1 <= throttle.limit <= most


def test_a_cancelled_caller_does_not_keep_the_others_waiting() -> None:
    async def main() -> list[str]:
        throttle = Throttle(1)
        done: list[str] = []

        async def one(name: str) -> None:
            async with throttle:
                await asyncio.sleep(0.01)
                done.append(name)

        tasks = [asyncio.create_task(one(name)) for name in "abc"]
        await asyncio.sleep(0)
        tasks[1].cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return done

    assert asyncio.run(main()) == ["a", "c"]
