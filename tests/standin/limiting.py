"""The stand-in's limits: a token bucket and a quota, with the headers that name them."""

import math
import time
from collections.abc import Callable


class CallLimits:
    """What the stand-in allows. Rates and bursts are in calls; 0 means no limit.

    Args:
        burst: how many calls the bucket holds; by default those of one second.
        quota: calls until the account is out of credit, for `quota_seconds`.
    """

    def __init__(
        self,
        *,
        rate: float = 0.0,
        burst: int = 0,
        quota: int = 0,
        quota_seconds: float = 3600.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.rate = rate
        self.size = float(burst or max(1, math.floor(rate)))
        self._left = self.size
        self._counted_at = clock()
        self._clock = clock
        self._quota = quota
        self._quota_left = quota
        self._quota_seconds = quota_seconds
        self._out_since: float | None = None

    def passes(self) -> bool:
        """Take a call from the bucket; return False if it is empty."""
        if not self.rate:
            return True
        self._refill()
        if self._left < 1:
            return False
        self._left -= 1
        return True

    def is_out_of_quota(self) -> bool:
        """Take a call from the quota; return True if it is used up."""
        if not self._quota:
            return False
        now = self._clock()
        if self._out_since is not None and now - self._out_since >= self._quota_seconds:
            self._out_since, self._quota_left = None, self._quota
        if self._quota_left:
            self._quota_left -= 1
            return False
        if self._out_since is None:
            self._out_since = now
        return True

    def headers(self) -> dict[str, str]:
        """Return what is left, in OpenAI's headers."""
        if not self.rate:
            return {}
        self._refill()
        full_in = 1000 * (self.size - self._left) / self.rate
        return {
            "x-ratelimit-limit-requests": f"{self.size:.0f}",
            "x-ratelimit-remaining-requests": f"{math.floor(self._left)}",
            "x-ratelimit-reset-requests": f"{math.ceil(full_in)}ms",
        }

    def retry_headers(self) -> dict[str, str]:
        """Return headers that say when the next call may pass."""
        seconds = max(0.0, 1 - self._left) / self.rate
        return {
            "retry-after": f"{math.ceil(seconds)}",
            "retry-after-ms": f"{math.ceil(1000 * seconds)}",
        }

    def _refill(self) -> None:
        now = self._clock()
        self._left = min(self.size, self._left + self.rate * (now - self._counted_at))
        self._counted_at = now
