"""Release one worker's calls at the pace that all workers of an endpoint share."""

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable
from enum import Enum, auto

from geval.llm.errors import LOST, REFUSING_FOR_NOW, EndpointError, ErrorKind
from geval.llm.pacing import Pace, PacingTurn, Sign, WorkerReport
from geval.llm.rate_headers import RateHeaders
from geval.llm.signs import RecentCalls

# Calls are sent at this rate at first, doubling every tenth of a second, then without a pace: so a
# limit is noticed before dozens of calls have met it.
OPENING_RATE, OPENING_DOUBLES_SECONDS, OPENING_SECONDS = 100.0, 0.1, 0.4
# A call counts as passed once it is open this many times as long as refusals take, which take so
# many seconds at least: of calls in the order in which they left, refusals arrive first.
LAGS, LEAST_LAG_SECONDS = 4.0, 0.05
# Each look is a query to the database.
LOOK_SECONDS = 1.0

Exchange = Callable[[WorkerReport, int], Awaitable[PacingTurn]]
# Errors after which a closed endpoint stays closed.
_STILL_CLOSED = LOST | REFUSING_FOR_NOW


class _End(Enum):
    """How a call ended."""

    PASSED = auto()
    LIMITED = auto()
    UNKNOWN = auto()


class Pacer:
    """One worker's share in the pace of an endpoint.

    Calls are not delayed until there is a sign of a limit; then each waits for its slot, in order
    of arrival.

    Args:
        exchange: reports what was observed to the shared pace, and gets slots for the given number
            of calls.
        look: reads the shared pace.
        tokens_each: estimated tokens per call.
        opens: whether calls start slowly. They need not where as many were sent without a limit a
            moment ago.
    """

    def __init__(
        self,
        exchange: Exchange,
        look: Callable[[], Awaitable[Pace]],
        *,
        tokens_each: float,
        most: int,
        opens: bool = True,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._exchange = exchange
        self._look = look
        self._most = most
        self._sleep = sleep
        self._clock = clock
        self._calls = RecentCalls(clock=clock, tokens_each=tokens_each)
        self._gate = asyncio.Lock()
        self._is_free = True
        self._opened_at: float | None = None if opens else float("-inf")
        self._next_opening = 0.0
        self._moments: deque[float] = deque()
        self._alone = False
        self._trial: int | None = None
        self._trial_passed: bool | None = None
        self._epoch = self._epoch_began = 0
        # Of the epoch's calls that are not reported yet: when each left, and how it ended.
        self._unreported: deque[tuple[float, _End | None]] = deque()
        self._lag = LEAST_LAG_SECONDS
        self._sign: Sign | None = None
        self._looked_at = float("-inf")

    @property
    def is_held_back(self) -> bool:
        """Whether calls are slowed to the pace that the endpoint allows."""
        return not self._is_free

    async def look_up(self) -> None:
        """Check whether another worker met a limit: only while calls are not paced, and at most
        once a second, except when calls begin or a call has met a limit."""
        if self._is_free and self._clock() - self._looked_at >= LOOK_SECONDS:
            self._looked_at = self._clock()
            if not (await self._look()).is_free:
                self._leave_freedom()

    async def turn(self) -> int:
        """Wait until a call may be sent; return its number, which `ended` takes."""
        if not self._is_free or self._is_opening():
            await self._gate.acquire()
            keeps_gate = False
            try:
                keeps_gate = await self._moment()
            finally:
                if not keeps_gate:
                    self._gate.release()
            number = self._leave()
            if keeps_gate:
                self._trial = number
            return number
        return self._leave()

    def ended(
        self, number: int, error: BaseException | None = None, limits: RateHeaders | None = None
    ) -> None:
        """Record how a call ended: with a reply's rate limits, or with an error."""
        kind = error.kind if isinstance(error, EndpointError) else None
        if isinstance(error, EndpointError) and kind == ErrorKind.RATE_LIMIT:
            if number >= self._epoch_began:
                self._lag = max(self._lag, self._calls.age(number))
            sign = self._calls.sign_of_limit(number, error.limits, error.retry_after)
            self._note(sign)
            self._looked_at = float("-inf")  # other workers may know more
        elif limits and self._is_free:
            self._note(self._calls.sign_of_reply(limits))
        self._note_end(number, error, kind)
        if number == self._trial:
            # A cancelled call proves nothing.
            is_conclusive = error is None or kind is not None
            self._trial_passed = kind not in _STILL_CLOSED if is_conclusive else None
            self._trial = None
            self._gate.release()

    def _note(self, sign: Sign | None) -> None:
        if sign and (self._is_free or sign.closed_for):
            self._sign = sign
            self._leave_freedom()
            self._moments.clear()

    def _leave_freedom(self) -> None:
        if self._is_free:
            self._is_free = False
            self._begin(-1)  # unpaced calls say nothing about a pace

    def _begin(self, epoch: int) -> None:
        self._epoch, self._epoch_began = epoch, self._calls.count
        self._unreported.clear()

    def _leave(self) -> int:
        if not self._is_free:
            self._unreported.append((self._clock(), None))
        return self._calls.leave()

    def _note_end(self, number: int, error: BaseException | None, kind: ErrorKind | None) -> None:
        index = number - (self._calls.count - len(self._unreported))
        if index < 0:
            return
        left_at, _end = self._unreported[index]
        if kind == ErrorKind.RATE_LIMIT:
            end = _End.LIMITED
        else:  # a cancelled call says nothing
            end = _End.PASSED if error is None or kind else _End.UNKNOWN
        self._unreported[index] = left_at, end

    def _counts(self) -> tuple[int, int]:
        """Return how many more calls have ended, and how many of them met a rate limit: in the
        order in which they left, as otherwise refusals, which arrive first, would count for too
        much."""
        ends = []
        passed_before = self._clock() - LAGS * self._lag
        while self._unreported:
            left_at, end = self._unreported[0]
            if end is None and left_at > passed_before:
                break
            ends.append(end or _End.PASSED)
            self._unreported.popleft()
        return len(ends) - ends.count(_End.UNKNOWN), ends.count(_End.LIMITED)

    def _is_opening(self) -> bool:
        if self._opened_at is None:
            self._opened_at = self._next_opening = self._clock()
            self._looked_at = float("-inf")
        return self._clock() - self._opened_at < OPENING_SECONDS

    async def _moment(self) -> bool:
        """Wait for the next slot; return whether the call must end before another is sent."""
        while True:
            if self._is_free:
                if not self._is_opening():
                    return False
                await self.look_up()
                if not self._is_free:
                    continue
                at = self._next_opening
                opened = at - (self._opened_at or 0.0)
                rate = OPENING_RATE * 2 ** (opened / OPENING_DOUBLES_SECONDS)
                self._next_opening = at + 1 / rate
                await self._sleep_until(at)
                if self._is_free:
                    return False
                continue
            if not self._moments:
                await self._ask()
                continue
            await self._sleep_until(self._moments[0])
            if self._moments:  # otherwise a sign arrived in the meantime
                self._moments.popleft()
                return self._alone

    async def _ask(self) -> None:
        ended, limited = self._counts()
        seen = WorkerReport(ended, limited, self._epoch, self._sign, self._trial_passed)
        self._sign = self._trial_passed = None
        turn = await self._exchange(seen, self._most)
        if turn.pace.epoch != self._epoch:
            self._begin(turn.pace.epoch)
        if turn.pace.is_free:
            self._is_free = self._sign is None
            self._unreported.clear()
            self._opened_at = None
            self._looked_at = self._clock()
            return
        offset = self._clock() - turn.now
        slots = turn.slots
        self._alone = slots.alone
        self._moments.extend(slots.at + offset + each * slots.every for each in range(slots.count))

    async def _sleep_until(self, moment: float) -> None:
        seconds = moment - self._clock()
        if seconds > 0:
            await self._sleep(seconds)
