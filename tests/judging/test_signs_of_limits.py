"""A limit on rates is told apart from single calls that are refused at random."""

import random

from geval.llm.pacer import RecentCalls
from geval.llm.rate_headers import RateAllowance, RateHeaders


class Clock:
    """Time as the test sets it."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def calls_left(count: int, *, every: float, tokens_each: float = 0.0) -> RecentCalls:
    """Calls of which none has come back yet."""
    clock = Clock()
    calls = RecentCalls(clock=clock, tokens_each=tokens_each)
    for _ in range(count):
        calls.leave()
        clock.now += every
    return calls


def test_rate_limits_in_a_row_are_a_sign() -> None:
    calls = calls_left(20, every=0.01)

    signs = [calls.sign_of_limit(number, None, None) for number in range(10, 20)]

    assert [sign is not None for sign in signs] == 7 * [False] + [True] + 2 * [False]
    assert signs[7] is not None
    assert 5 < signs[7].rate < 50
    assert not signs[7].is_sure


def test_one_call_of_ten_at_random_is_hardly_ever_a_sign() -> None:
    dice = random.Random(1)
    calls = calls_left(0, every=0.01)

    signs = 0
    for _ in range(5000):
        number = calls.leave()
        if dice.random() < 0.1:
            signs += calls.sign_of_limit(number, None, None) is not None

    assert signs <= 1


def test_one_rate_limit_with_nothing_left_is_a_sign_with_the_rate_of_the_server() -> None:
    calls = calls_left(60, every=0.005)
    limits = RateHeaders(requests=RateAllowance(50, 0, 1.0), next_in=0.02)

    sign = calls.sign_of_limit(59, limits, 0.02)

    assert sign is not None
    assert (sign.rate, sign.is_sure, sign.closed_for) == (50, True, 0.0)


def test_tokens_are_calls_of_their_usual_size() -> None:
    calls = calls_left(60, every=0.005, tokens_each=1000)
    limits = RateHeaders(tokens=RateAllowance(120_000, 400, 6.0))

    sign = calls.sign_of_limit(59, limits, None)

    assert sign is not None
    assert sign.is_sure
    assert 19 < sign.rate < 20


def test_a_wait_of_seconds_closes_the_endpoint_for_everybody_only_with_a_sign() -> None:
    calls = calls_left(60, every=0.005)

    assert calls.sign_of_limit(5, None, 20.0) is None
    sign = calls.sign_of_limit(59, RateHeaders(requests=RateAllowance(50, 0, 20.0)), 20.0)

    assert sign is not None
    assert sign.closed_for == 20.0


def test_a_reply_foretells_a_limit_when_little_is_left() -> None:
    calls = calls_left(60, every=0.005)

    assert calls.sign_of_reply(RateHeaders(requests=RateAllowance(50, 30, 0.4))) is None
    sign = calls.sign_of_reply(RateHeaders(requests=RateAllowance(50, 5, 0.9)))

    assert sign is not None
    assert (round(sign.rate), sign.is_sure) == (50, True)
