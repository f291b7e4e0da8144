"""Release one worker's calls at the pace that all workers of an endpoint share.

`RecentCalls` tells a rate limit from random refusals. Endpoints refuse single calls for reasons
unrelated to the rate: a busy machine, a shared pool. These are not signs. A sign is a reply that
says that nothing is left, or rate limits in such close succession that chance does not explain
them.
"""

import asyncio
import math
import time
from collections import deque
from collections.abc import Awaitable, Callable
from enum import Enum, auto

from geval.llm.errors import LOST, REFUSING_FOR_NOW, EndpointError, ErrorKind
from geval.llm.pacing import Pace, PacingTurn, Sign, WorkerReport
from geval.llm.rate_headers import RateAllowance, RateHeaders

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
