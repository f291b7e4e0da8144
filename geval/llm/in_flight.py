"""How many calls of one worker are open at once: its part of what the judge and the endpoint may,
fewer where the server is too slow for them or refuses some.

A server of one's own answers calls that are open at once more slowly each. If all of them together
take longer than the time limit, all are given up, sent again and given up again, and nothing is
ever answered. So where calls are given up and hardly any others were answered meanwhile, half as
many are open from then on; with every answer a little more may be again (additive increase and
multiplicative decrease: Chiu and Jain, 1989). A call that hangs while others are answered changes
nothing. A server that leaves even a single call without an answer is not slow for their number:
as many as before are open again, so that a server that is down costs no more time than it must.

A server that refuses calls beyond some number gets so many (llm/overload.py).
"""

import asyncio
import math
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from geval.llm.errors import EndpointError, ErrorKind
from geval.llm.overload import Capacity

# What a server does with calls for which it has no room.
REFUSED = frozenset({ErrorKind.OVERLOADED, ErrorKind.CONNECTION, ErrorKind.BROKEN})


class Flight:
    """A call that may be open.

    `number` is its place among all that left, None before it has; `at_once` is how many calls were
    open then, with it, and `beside` those of the others that the server has not refused.
    """

    def __init__(self, flights: "InFlight") -> None:
        self._flights = flights
        self.changes = flights.changes
        self.number: int | None = None
        self.at_once = self.beside = 0

    async def leave(self) -> None:
        """Note that the call goes to the server now; wait if fewer may be open by now than when it
        was let in."""
        await self._flights.note_left(self)


class InFlight:
    """Lets so many calls be open at once.

    Args:
        most: how many at most.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        # As the server is too slow for more.
        self._bearable = math.inf
        self._capacity = Capacity()
        self._open = 0
        self._left: list[Flight] = []
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._why_closed: Callable[[], Exception] | None = None
        self._may_leave = asyncio.Event()
        self._answered = 0
        # Calls that left before a change say nothing about the number that holds now.
        self.changes = 0
        # Fewer calls are tried until it shows that a single one gets no answer either.
        self._fewer_may_help = True

    @property
    def is_reduced(self) -> bool:
        """Whether fewer calls are open than may be, as the server cannot take more."""
        return self.allowed < self._most

    @property
    def allowed(self) -> int:
        """How many calls may be open now."""
        capacity = math.inf if self._capacity.most is None else self._capacity.most
        return int(min(self._most, self._bearable, capacity))

    @property
    def open(self) -> int:
        """How many calls are open."""
        return self._open

    @property
    def limited_to(self) -> int:
        """How many at most, as `limit` said."""
        return self._most

    def close(self, error: Callable[[], Exception]) -> None:
        """Let no further call be open: those that wait for it end with an error, those that are
        open go on."""
        self._why_closed = error
        while self._waiting:
            waiter = self._waiting.popleft()
            if not waiter.done():
                waiter.set_exception(error())
        self._may_leave.set()

    def limit(self, most: int) -> None:
        """Let at most so many be open from now on; those that are open end."""
        self._most = most
        self._let_in()

    @asynccontextmanager
    async def call(self) -> AsyncIterator[Flight]:
        """Wait until a call may be open, and learn from how it ends."""
        await self._enter()
        answered, flight = self._answered, Flight(self)
        try:
            yield flight
        except EndpointError as error:
            is_of_now = flight.changes == self.changes
            hardly_others = self._answered - answered < self.allowed
            if error.kind == ErrorKind.TIMEOUT and is_of_now and hardly_others:
                self._give_up()
            elif error.kind in REFUSED and flight.number is not None:
                self._note_refused(flight, flight.number)
            raise
        else:
            self._answered += 1
            self._fewer_may_help = True
            self._bear(self._bearable + 1 / self._bearable)
            if flight.number is not None:
                self._capacity.answered(flight.number, flight.at_once)
        finally:
            if flight in self._left:
                self._left.remove(flight)
            self._leave()

    async def note_left(self, flight: Flight) -> None:
        """What `Flight.leave` does."""
        while len(self._left) >= self.allowed and self._left:
            if self._why_closed:
                raise self._why_closed()
            self._may_leave.clear()
            await self._may_leave.wait()
        flight.number = self._capacity.leave()
        flight.beside, flight.changes = len(self._left), self.changes
        flight.at_once = flight.beside + 1
        self._left.append(flight)

    def _give_up(self) -> None:
        if not self._fewer_may_help:
            return
        self.changes += 1
        self._fewer_may_help = self.allowed > 1
        self._bear(max(1.0, self.allowed / 2) if self._fewer_may_help else math.inf)

    def _note_refused(self, flight: Flight, number: int) -> None:
        for later in self._left[self._left.index(flight) + 1 :]:
            later.beside -= 1
        if self._capacity.refused(number, flight.beside):
            self.changes += 1

    def _bear(self, number: float) -> None:
        self._bearable = math.inf if 0 < self._most <= number else number

    async def _enter(self) -> None:
        if self._why_closed:
            raise self._why_closed()
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
        self._may_leave.set()
        while self._waiting and self._open < self.allowed:
            waiter = self._waiting.popleft()
            if not waiter.done():
                self._open += 1
                waiter.set_result(None)
