"""Detect signs of a rate limit in one worker's calls, as opposed to random refusals. Pure.

Endpoints refuse single calls for reasons unrelated to the rate: a busy machine, a shared pool.
These are not signs. A sign is a reply that says that nothing is left, or rate limits in such close
succession that chance does not explain them.
"""

import math
from collections import deque
from collections.abc import Callable

from geval.llm.pacing import Sign
from geval.llm.rate_headers import RateAllowance, RateHeaders

# A cumulative sum of log-likelihood ratios (Page, 1954): that 35 of 100 calls meet a limit, against
# 10. With 10 in 100 it is reached by chance once in more than 20,000 calls.
LIMITED_WEIGHT, PASSED_WEIGHT, ENOUGH = math.log(0.35 / 0.1), math.log(0.65 / 0.9), 10.0
REMEMBERED_CALLS = 128
# An allowance with a smaller share left is about to be used up.
SMALL_SHARE = 0.2
# Other workers may call as well, so that the endpoint may get this many times as many calls.
OTHERS = 4
# Two hints that differ by no more than this factor agree.
ALIKE = 1.25
# Shorter waits are left to the pace.
CLOSED_SECONDS = 2.0
# A rate is that of at least so many calls.
LEAST_BEFORE = 12
# Where every call was refused, the rate must not become 0: only calls show what is allowed.
LEAST_SHARE = 0.1


class RecentCalls:
    """The last calls of a worker, in the order in which they were sent.

    An open call counts as passed: rate limits arrive immediately, replies do not.

    Args:
        tokens_each: estimated tokens per call, for limits on tokens.
    """

    def __init__(self, *, clock: Callable[[], float], tokens_each: float = 0.0) -> None:
        self._clock = clock
        self._tokens_each = tokens_each
        self._left_at: deque[float] = deque(maxlen=REMEMBERED_CALLS)
        self._limited: deque[bool] = deque(maxlen=REMEMBERED_CALLS)
        self.count = 0

    def age(self, number: int) -> float:
        """Return how many seconds ago a call was sent; 0 if it is no longer remembered."""
        index = number - (self.count - len(self._left_at))
        return self._clock() - self._left_at[index] if index >= 0 else 0.0

    def leave(self) -> int:
        """Record that a call is sent now; return its number."""
        self._left_at.append(self._clock())
        self._limited.append(False)
        self.count += 1
        return self.count - 1

    def sign_of_reply(self, limits: RateHeaders) -> Sign | None:
        """Return the sign in a reply's headers, before any call meets a limit."""
        for allowance in (limits.requests, limits.tokens):
            if allowance and allowance.remaining <= SMALL_SHARE * allowance.limit:
                rate = self._as_calls(allowance, limits)
                if rate and rate <= OTHERS * self.rate():
                    return Sign(rate, is_sure=True)
        return None

    def sign_of_limit(
        self, number: int, limits: RateHeaders | None, retry_after: float | None
    ) -> Sign | None:
        """Record that a call met a rate limit; return the sign that it gives together with earlier
        ones."""
        index = number - (self.count - len(self._limited))
        if index >= 0:
            self._limited[index] = True
        limits = limits or RateHeaders()
        hints = [
            rate
            for allowance in (limits.requests, limits.tokens)
            if allowance
            and self._is_used_up(allowance, limits)
            and (rate := self._as_calls(allowance, limits))
        ]
        if not hints and not self._is_no_chance():
            return None
        closed_for = retry_after if retry_after and retry_after >= CLOSED_SECONDS else 0.0
        rate, is_sure = self._most_plausible(hints, limits.next_in)
        held = self._rate_before()
        for each in range(len(self._limited)):
            self._limited[each] = False  # the next sign needs new calls
        return Sign(rate, is_sure, closed_for, held)

    def rate(self) -> float:
        """Return the recent rate of calls per second."""
        took = self._clock() - self._left_at[0] if self._left_at else 0.0
        return len(self._left_at) / max(took, 0.01)

    def _rate_before(self) -> float:
        """Return the rate of calls before the first that met a limit; 0 if there are few."""
        before = list(self._limited).index(True) if True in self._limited else 0
        took = self._left_at[before] - self._left_at[0] if before else 0.0
        return before / took if before >= LEAST_BEFORE and took > 0 else 0.0

    def _is_used_up(self, allowance: RateAllowance, limits: RateHeaders) -> bool:
        needs = self._tokens_each if allowance is limits.tokens else 1.0
        return allowance.remaining < max(1.0, needs)

    def _as_calls(self, allowance: RateAllowance, limits: RateHeaders) -> float | None:
        rate = allowance.per_second
        if rate is None or allowance is limits.requests:
            return rate
        return rate / self._tokens_each if self._tokens_each else None

    def _most_plausible(self, hints: list[float], next_in: float | None) -> tuple[float, bool]:
        """Return the rate that the server allows, and whether it stated it: a stated rate counts
        unless calls are refused at a much lower rate."""
        now_rate = self.rate()
        rates = [rate for rate in hints if rate <= OTHERS * now_rate]
        if rates:
            return min(rates), True
        if next_in and 1 / next_in <= OTHERS * now_rate:
            return 1 / next_in, any(1 / ALIKE <= rate * next_in <= ALIKE for rate in hints)
        return now_rate * max(LEAST_SHARE, 1 - self._share()), False

    def _is_no_chance(self) -> bool:
        total = 0.0
        for limited in self._limited:
            total = max(0.0, total + (LIMITED_WEIGHT if limited else PASSED_WEIGHT))
            if total >= ENOUGH:
                return True
        return False

    def _share(self) -> float:
        """Return the share of rate limits since the first remembered one."""
        calls = list(self._limited)
        if True not in calls:
            return 0.0
        since = calls[calls.index(True) :]
        return sum(since) / len(since)
