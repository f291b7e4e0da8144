"""Limit one worker's concurrent calls: to its share of the limits of judge and endpoint, and to
fewer where the server is too slow or refuses some.

A self-hosted server answers each call more slowly the more are open. If together they take longer
than the time limit, all time out, are sent again and time out again, and nothing is ever answered.
So when calls time out and hardly any others were answered in the meantime, the number is halved;
every answer raises it a little (additive increase and multiplicative decrease: Chiu and Jain,
1989). A call that hangs while others are answered changes nothing. If even a single call gets no
answer, concurrency is not the cause: the old limit is restored, so that a server that is down costs
no more time than necessary.

An overloaded server refuses some calls immediately: with 503, or by not accepting the connection.
The other calls that were open at the time and not refused show how many it can answer at once. That
number becomes the limit; when it has worked for a while a few more are tried, more and more rarely
while they are refused.

Servers also refuse single calls for other reasons, which are ignored: only refusals in such close
succession that chance does not explain them count (Page, 1954). If lowering the limit repeatedly
does not change the share of refusals, they do not depend on concurrency and are ignored for some
time. A call that is refused while no other is open says nothing about concurrency.
"""

import asyncio
import math
import statistics
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from geval.llm.errors import EndpointError, ErrorKind
from geval.llm.pacer import ENOUGH, LIMITED_WEIGHT, PASSED_WEIGHT, REMEMBERED_CALLS

# After this many rounds (a round is as many answers as the limit) a higher limit is tried; each
# attempt that is refused doubles the rounds.
PATIENT_ROUNDS, MOST_PATIENT_ROUNDS = 8, 64
# Once a limit is known, half the evidence is enough to lower it: other clients may be using a part
# of the capacity.
ENOUGH_IF_KNOWN = ENOUGH / 2
# After this many cuts without effect in a row, refusals are ignored for this many answers.
VAIN_CUTS, VAIN_ANSWERS = 3, 1000
# How a server that is full refuses calls.
REFUSED = frozenset({ErrorKind.OVERLOADED, ErrorKind.CONNECTION, ErrorKind.BROKEN})


class Capacity:
    """The number of concurrent calls that a server can answer.

    `most` is the limit, None while no number is known to be too high. `proven` calls were answered
    at once; where `most` is higher, more are being tried.
    """

    def __init__(self) -> None:
        self.most: int | None = None
        self.proven = 0
        # The calls sent since the last change, in order: for a refused call how many other open
        # calls were not refused, None for others. An open call counts as answered, because refusals
        # arrive immediately and replies do not.
        self._calls: deque[int | None] = deque(maxlen=REMEMBERED_CALLS)
        self._count = self._since = 0
        self._calm = 0
        self._rounds, self._step = PATIENT_ROUNDS, 1
        self._cuts = 0
        self._before: int | None = None
        self._deaf_for = 0

    def leave(self) -> int:
        """Record that a call is sent now; return its number."""
        self._calls.append(None)
        self._count += 1
        return self._count - 1

    def answered(self, number: int, at_once: int) -> None:
        """Record an answer to a call; `at_once` is how many calls were open when it was sent."""
        self._deaf_for = max(0, self._deaf_for - 1)
        if self.most is None or number < self._since or at_once < self.most:
            return
        self._calm += 1
        if self._calm >= self.most:
            self._cuts = 0
        if self.most > self.proven and self._calm >= self.most:
            self.proven, self._step, self._rounds = self.most, 2 * self._step, PATIENT_ROUNDS
            self._try(self.proven + self._step)
        elif self.most == self.proven and self._calm >= self._rounds * self.most:
            self._try(self.proven + self._step)

    def refused(self, number: int, beside: int) -> bool:
        """Record a refused call; `beside` is how many other open calls were not refused. Return
        whether the limit has changed."""
        if self._deaf_for or not beside or number < self._since:
            return False
        if self.most is not None and self.most > self.proven and beside >= self.proven:
            self.proven = beside
            self._rounds = min(MOST_PATIENT_ROUNDS, 2 * self._rounds)
            self._step = 1
            self._try(self.proven)
            return True
        index = number - (self._count - len(self._calls))
        if index >= 0:
            self._calls[index] = beside
        answered = self._answered_beside()
        if answered is not None:
            self._cut(answered)
        return answered is not None

    def _answered_beside(self) -> int | None:
        """Return how many calls are answered at once, judged by refusals that chance does not
        explain; None if there are none."""
        enough = ENOUGH if self.most is None else ENOUGH_IF_KNOWN
        evidence, besides = 0.0, list[int]()
        for beside in self._calls:
            evidence += PASSED_WEIGHT if beside is None else LIMITED_WEIGHT
            if beside is not None:
                besides.append(beside)
            if evidence <= 0:
                evidence, besides = 0.0, []
            if evidence >= enough:
                return statistics.median_low(besides)
        return None

    def _cut(self, answered: int) -> None:
        if not self._cuts:
            self._before = self.most
        self._cuts += 1
        self._step, self._rounds = 1, PATIENT_ROUNDS
        if self._cuts == VAIN_CUTS:
            self._cuts, self._deaf_for = 0, VAIN_ANSWERS
            self.proven = self._before or 0
            self._try(self._before)
        else:
            self.proven = answered
            self._try(answered)

    def _try(self, most: int | None) -> None:
        self.most = most
        self._calm = 0
        self._calls.clear()
        self._since = self._count


class Flight:
    """A call that was let in.

    `number` is its position among all calls sent, None until it is sent; `at_once` is how many
    calls were open at that time, including it, and `beside` how many of the others the server has
    not refused.
    """

    def __init__(self, flights: "InFlight") -> None:
        self._flights = flights
        self.changes = flights.changes
        self.number: int | None = None
        self.at_once = self.beside = 0

    async def leave(self) -> None:
        """Record that the call is sent now; first wait if the limit has fallen since it was let
        in."""
        await self._flights.note_left(self)


class InFlight:
    """Limits the number of concurrent calls.

    Args:
        most: the limit.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        # The limit of a slow server.
        self._bearable = math.inf
        self._capacity = Capacity()
        self._open = 0
        self._left: list[Flight] = []
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._why_closed: Callable[[], Exception] | None = None
        self._may_leave = asyncio.Event()
        self._answered = 0
        # Calls sent before a change say nothing about the current limit.
        self.changes = 0
        # False once even a single call got no answer.
        self._fewer_may_help = True

    @property
    def is_reduced(self) -> bool:
        """Whether the server's capacity has lowered the limit."""
        return self.allowed < self._most

    @property
    def allowed(self) -> int:
        """The number of calls that may be open now."""
        capacity = math.inf if self._capacity.most is None else self._capacity.most
        return int(min(self._most, self._bearable, capacity))

    @property
    def open(self) -> int:
        """The number of open calls."""
        return self._open

    @property
    def limited_to(self) -> int:
        """The limit set by `limit`, whatever the server can take."""
        return self._most

    def close(self, error: Callable[[], Exception]) -> None:
        """Let no further call in: waiting calls end with an error, open calls continue."""
        self._why_closed = error
        while self._waiting:
            waiter = self._waiting.popleft()
            if not waiter.done():
                waiter.set_exception(error())
        self._may_leave.set()

    def limit(self, most: int) -> None:
        """Set the limit from now on; open calls finish."""
        self._most = most
        self._let_in()

    @asynccontextmanager
    async def call(self) -> AsyncIterator[Flight]:
        """Wait until a call is let in, and adapt the limit to its outcome."""
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
        """Implement `Flight.leave`."""
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
                self._leave()  # it was let in just as it was cancelled
            raise

    def _leave(self) -> None:
        self._open -= 1
        self._let_in()

    def _let_in(self) -> None:
        """Let in waiting calls in order of arrival, as many as are allowed now."""
        self._may_leave.set()
        while self._waiting and self._open < self.allowed:
            waiter = self._waiting.popleft()
            if not waiter.done():
                self._open += 1
                waiter.set_result(None)
