"""The stand-in's token bucket and quota, on a clock of the test."""

from tests.standin.limiting import CallLimits


class Clock:
    """Time as the test sets it."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_bucket_holds_its_burst_and_refills_at_its_rate() -> None:
    clock = Clock()
    limits = CallLimits(rate=50, burst=10, clock=clock)

    at_once = sum(limits.passes() for _ in range(20))
    clock.now = 0.1
    later = sum(limits.passes() for _ in range(20))

    assert (at_once, later) == (10, 5)


def test_headers_name_what_is_left_and_when_it_is_full() -> None:
    clock = Clock()
    limits = CallLimits(rate=50, clock=clock)
    for _ in range(60):
        limits.passes()

    assert limits.headers() == {
        "x-ratelimit-limit-requests": "50",
        "x-ratelimit-remaining-requests": "0",
        "x-ratelimit-reset-requests": "1000ms",
    }
    assert limits.retry_headers() == {"retry-after": "1", "retry-after-ms": "20"}


def test_a_quota_is_renewed_after_its_time() -> None:
    clock = Clock()
    limits = CallLimits(quota=2, quota_seconds=60, clock=clock)

    first = [limits.is_out_of_quota() for _ in range(3)]
    clock.now = 61
    again = [limits.is_out_of_quota() for _ in range(3)]

    assert first == again == [False, False, True]
