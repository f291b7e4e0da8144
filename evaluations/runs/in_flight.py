"""How many calls of one worker are open at once: as many as the judge may, fewer where the server
is too slow for them.

A server of one's own answers calls that are open at once more slowly each. If all of them together
take longer than the time limit, all are given up, sent again and given up again, and nothing is
ever answered. So where calls are given up and hardly any others were answered meanwhile, half as
many are open from then on; with every answer a little more may be again (additive increase and
multiplicative decrease: Chiu and Jain, 1989). A call that hangs while others are answered changes
nothing. A server that leaves even a single call without an answer is not slow for their number:
as many as before are open again, so that a server that is down costs no more time than it must.
"""

import asyncio
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
        self._places = asyncio.Semaphore(most)
        # Places in use that are not given back when they are free, as fewer are allowed by now.
        self._withdrawn = 0
        self._answered = 0
        # Calls that left before a change say nothing about the number that holds now.
        self._changes = 0
        # Fewer calls are tried until it shows that a single one gets no answer either.
        self._fewer_may_help = True

    @property
    def allowed(self) -> int:
        """How many calls may be open now."""
        return int(self._allowed)

    @asynccontextmanager
    async def call(self) -> AsyncIterator[None]:
        """Wait until a call may be open, and learn from how it ends."""
        await self._places.acquire()
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
            self._give_back()

    def _give_up(self) -> None:
        if not self._fewer_may_help:
            return
        self._changes += 1
        self._fewer_may_help = self.allowed > 1
        self._allow(max(1.0, self._allowed / 2) if self._fewer_may_help else float(self._most))

    def _allow(self, number: float) -> None:
        more = int(number) - self.allowed
        self._allowed = number
        self._withdrawn += max(0, -more)
        for _ in range(more):
            self._give_back()

    def _give_back(self) -> None:
        if self._withdrawn:
            self._withdrawn -= 1
        else:
            self._places.release()
