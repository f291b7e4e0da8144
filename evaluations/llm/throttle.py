"""How many calls one worker keeps in flight: fewer when the endpoint says it is too much, slowly
more again. Pure.

Additive increase, multiplicative decrease (Chiu and Jain, 1989), as TCP does: a rate limit takes
away a third, at most once a second so that one burst counts once; every success gives back a
little, one call more for each full round.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable
from types import TracebackType
from typing import Self

DECREASE = 0.67
SETTLE_SECONDS = 1.0


class Throttle:
    """An async context that lets in as many as `limit` at a time, between 1 and `most`."""

    def __init__(self, most: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.most = most
        self.limit = float(most)
        self.in_flight = 0
        self._clock = clock
        self._decreased_at = float("-inf")
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def __aenter__(self) -> Self:
        while self.in_flight >= int(self.limit):
            turn = asyncio.get_running_loop().create_future()
            self._waiting.append(turn)
            try:
                await turn
            except asyncio.CancelledError:
                self._let_in()  # the turn may have been given to us already
                raise
        self.in_flight += 1
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.in_flight -= 1
        self._let_in()

    def succeeded(self) -> None:
        """Count an answer: a full round of them allows one call more."""
        if self.limit < self.most:
            self.limit = min(float(self.most), self.limit + 1 / self.limit)
            self._let_in()

    def was_limited(self) -> None:
        """Count an answer "too many requests"."""
        now = self._clock()
        if now - self._decreased_at >= SETTLE_SECONDS:
            self._decreased_at = now
            self.limit = max(1.0, self.limit * DECREASE)

    def _let_in(self) -> None:
        free = int(self.limit) - self.in_flight
        while self._waiting and free > 0:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                free -= 1
