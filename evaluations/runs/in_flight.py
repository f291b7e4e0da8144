"""How many calls of one worker are open at once: its part of what the judge may, fewer where the
server is too slow for them.

A server of one's own answers calls that are open at once more slowly each. If all of them together
take longer than the time limit, all are given up, sent again and given up again, and nothing is
ever answered. So where calls are given up and hardly any others were answered meanwhile, half as
many are open from then on; with every answer a little more may be again (additive increase and
multiplicative decrease: Chiu and Jain, 1989). A call that hangs while others are answered changes
nothing. A server that leaves even a single call without an answer is not slow for their number:
as many as before are open again, so that a server that is down costs no more time than it must.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from evaluations.llm.errors import EndpointError, ErrorKind


class InFlight:
    """Lets so many calls be open at once.

    Args:
        most: how many at most.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._allowed = float(most)
        self._open = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._answered = 0
        # Calls that left before a change say nothing about the number that holds now.
        self._changes = 0
        # Fewer calls are tried until it shows that a single one gets no answer either.
        self._fewer_may_help = True

    @property
    def is_reduced(self) -> bool:
        """Whether fewer calls are open than may be, as the server is too slow for more."""
        return self._allowed < self._most

    @property
    def allowed(self) -> int:
        """How many calls may be open now."""
        return int(self._allowed)

    def limit(self, most: int) -> None:
        """Let at most so many be open from now on; those that are open end."""
        was_at_most = self._allowed >= self._most
        self._most = most
        self._allow(float(most) if was_at_most else min(self._allowed, float(most)))

    @asynccontextmanager
    async def call(self) -> AsyncIterator[None]:
        """Wait until a call may be open, and learn from how it ends."""
        await self._enter()
        answered, changes = self._answered, self._changes
        try:
            yield
        except EndpointError as error:
            is_of_now = changes == self._changes
            hardly_others = self._answered - answered < self.allowed
            if error.kind == ErrorKind.TIMEOUT and is_of_now and hardly_others:
                self._give_up()
            raise
        else:
            self._answered += 1
            self._fewer_may_help = True
            self._allow(min(float(self._most), self._allowed + 1 / self._allowed))
        finally:
            self._leave()

    def _give_up(self) -> None:
        if not self._fewer_may_help:
            return
        self._changes += 1
        self._fewer_may_help = self.allowed > 1
        self._allow(max(1.0, self._allowed / 2) if self._fewer_may_help else float(self._most))

    def _allow(self, number: float) -> None:
        self._allowed = number
        self._let_in()

    async def _enter(self) -> None:
        waiter = asyncio.get_running_loop().create_future()
        self._waiting.append(waiter)
        self._let_in()
        try:
            await waiter
        except asyncio.CancelledError:
            if waiter.done() and not waiter.cancelled():
                self._leave()  # it was let in at the moment in which it was given up
            raise

    def _leave(self) -> None:
        self._open -= 1
        self._let_in()

    def _let_in(self) -> None:
        """Let calls in, in the order in which they came, as many as are allowed now."""
        while self._waiting and self._open < self.allowed:
            waiter = self._waiting.popleft()
            if not waiter.done():
                self._open += 1
                waiter.set_result(None)
