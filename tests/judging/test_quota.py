"""Limits a minute that hold over all workers."""

import asyncio
import datetime

import pytest
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from evaluations.judging.runs.quota import Grant, Permits, QuotaLimits, bucket, take
from evaluations.models import AccountBucket

ACCOUNT = "0" * 64


@given(st.integers(2, 100_000))
def test_no_sixty_seconds_see_more_than_the_limit(limit: int) -> None:
    size, flow = bucket(limit)

    assert size + 60 * flow <= limit + 1e-6


@pytest.mark.django_db
def test_workers_share_one_bucket() -> None:
    limits = QuotaLimits(requests=100, tokens=None)

    granted = [take(ACCOUNT, limits, wanted=4, tokens_each=10).calls for _ in range(5)]

    assert granted[:3] == [4, 4, 2]
    assert sum(granted) in (10, 11)  # a tenth of the limit at once, and what flows in meanwhile


@pytest.mark.django_db
def test_an_empty_bucket_says_how_long_to_wait() -> None:
    limits = QuotaLimits(requests=10, tokens=None)
    take(ACCOUNT, limits, wanted=4, tokens_each=10)

    grant = take(ACCOUNT, limits, wanted=4, tokens_each=10)

    assert grant.calls == 0
    assert 3 < grant.wait < 7  # nine requests flow in during a minute


@pytest.mark.django_db
def test_tokens_are_counted_and_a_call_larger_than_the_bucket_may_go_out_alone() -> None:
    limits = QuotaLimits(requests=None, tokens=1000)

    first = take(ACCOUNT, limits, wanted=3, tokens_each=400)
    second = take(ACCOUNT, limits, wanted=3, tokens_each=400)

    assert (first.calls, second.calls) == (1, 0)
    assert AccountBucket.objects.get().tokens < -250


def test_a_handful_is_asked_for_at_a_time_and_waits_are_waited() -> None:
    grants = [Grant(0, 2.5), Grant(3, 0.0), Grant(3, 0.0)]
    asked: list[int] = []
    slept: list[float] = []

    async def ask(handful: int) -> Grant:
        asked.append(handful)
        return grants[len(asked) - 1]

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    async def main() -> None:
        permits = Permits(ask, handful=3, sleep=sleep)
        await asyncio.gather(*(permits.one() for _ in range(5)))

    asyncio.run(main())

    assert (asked, slept) == ([3, 3, 3], [2.5])


@pytest.mark.django_db
def test_a_clock_that_was_set_back_neither_empties_the_bucket_nor_blocks_it() -> None:
    limits = QuotaLimits(requests=100, tokens=1000)
    take(ACCOUNT, limits, wanted=1, tokens_each=10)
    tomorrow = timezone.now() + datetime.timedelta(days=1)
    AccountBucket.objects.update(counted_at=tomorrow)

    granted = take(ACCOUNT, limits, wanted=4, tokens_each=10)

    assert granted.calls == 4
    assert AccountBucket.objects.get().counted_at < tomorrow
