"""One worker's calls to an endpoint, sent as its part of the calls in flight, the endpoint's limits
and its pace allow. Each call is counted before its reply is used."""

import time

from evaluations.judging.runs.quota import Grant, Permits, QuotaLimits, exchange, known_pace, take
from evaluations.judging.runs.run_questions import RunQuestions
from evaluations.judging.runs.share import RunShare, StoppedError
from geval.llm.cost import estimated_tokens
from geval.llm.endpoints import Client
from geval.llm.errors import LOST, EndpointError
from geval.llm.in_flight import InFlight
from geval.llm.metering import CallUsage, ask_counted
from geval.llm.pacer import Pacer
from geval.llm.pacing import Pace, PacingTurn, WorkerReport
from geval.llm.replies import Reply
from geval.llm.requests import Request

# After unthrottled calls, for this long, assume that there is no limit.
FREE_SECONDS = 60.0
# By account and model: when this process last made calls without being throttled, and how many at
# once.
_went_free: dict[tuple[str, str], tuple[float, int]] = {}


class OutgoingCalls:
    """Sends a worker's calls. `answers` counts replies and errors that show that the endpoint is
    up, `answered` is the last request that got a reply, and `spent` is the usage since it was last
    taken.

    Args:
        most: how many calls the judge may have in flight, with all workers.
    """

    def __init__(self, share: RunShare, questions: RunQuestions, client: Client, most: int) -> None:
        endpoint = share.run.judge.endpoint
        assert endpoint is not None
        self.spent = CallUsage()
        self.answers = 0
        self.answered: Request | None = None
        # The highest number of calls in flight at once that got replies, and the time of the last
        # reply.
        self._at_once, self._replied_at = 0, float("-inf")
        self.in_flight = InFlight(0)  # until it is assigned its part of the calls
        self._share = share
        self._client = client
        self._most = most
        self._account, self._model = endpoint.account, questions.frozen.model
        self._limits = QuotaLimits(endpoint.requests_per_minute, endpoint.tokens_per_minute)
        # Approximate tokens per call.
        self._tokens_each = (
            estimated_tokens(questions.frozen.characters_each) + questions.settings.max_tokens
        )
        self._permits = (
            Permits(self._ask_permits, handful=max(1, most // 4), sleep=share.rest)
            if self._limits.any
            else None
        )
        self._pacer = Pacer(
            self._exchange,
            self._look,
            tokens_each=self._tokens_each,
            most=most,
            opens=not self._is_known_free,
            sleep=share.rest,
        )
        # When this worker stops serving the run, it has no part of the calls, so waiting calls
        # would wait for ever.
        share.when_stopped(lambda: self.in_flight.close(StoppedError))

    async def call(self, request: Request) -> Reply:
        """Make one call as soon as it may leave.

        Raises:
            EndpointError: the endpoint refused the call or did not answer.
            StoppedError: the run stopped before it left.
        """
        async with self.in_flight.call() as flight:
            if self._permits:
                await self._permits.one()
            number = await self._pacer.turn()
            try:
                await flight.leave()
                if self._share.stopped.is_set():
                    raise StoppedError
                reply = await ask_counted(self._client, request, self.spent)
            except BaseException as error:
                self._pacer.ended(number, error)
                if isinstance(error, EndpointError) and error.kind not in LOST:
                    self.answers += 1
                raise
        self.answers += 1
        self.answered = request
        self._at_once = max(self._at_once, flight.at_once)
        self._replied_at = time.monotonic()
        self._pacer.ended(number, limits=reply.limits)
        return reply

    async def share_out(self) -> None:
        """Update this worker's part of the calls that the judge and the endpoint may have in
        flight."""
        # Until the new limit applies here, calls may still leave under the old one.
        may_be_open = max(self.in_flight.open, self.in_flight.limited_to)
        calls = self._share.shift.calls
        self.in_flight.limit(await self._share.database.call(calls, self._most, may_be_open))

    async def look_up(self) -> None:
        """Check whether another worker met a limit; remember whether there is any."""
        await self._pacer.look_up()
        if self._pacer.is_held_back or self.in_flight.is_reduced:
            _went_free.pop((self._account, self._model), None)
        elif self._at_once:
            _went_free[self._account, self._model] = self._replied_at, self._at_once

    @property
    def _is_known_free(self) -> bool:
        """Whether this many calls, of this run or another, recently went out without throttling."""
        at, most = _went_free.get((self._account, self._model), (float("-inf"), 0))
        return time.monotonic() - at < FREE_SECONDS and most >= self._most

    def what_holds_back(self) -> dict[str, bool]:
        """Return whether calls are waiting now, by reason."""
        return {
            "pace that the endpoint allows": self._pacer.is_held_back,
            "limits of the endpoint": self._permits is not None and self._permits.are_waited_for,
            "other runs that have all calls of the endpoint": self.in_flight.limited_to == 0,
            "server that cannot take more calls": self.in_flight.is_reduced,
        }

    async def _ask_permits(self, handful: int) -> Grant:
        return await self._share.database.call(
            take, self._account, self._limits, wanted=handful, tokens_each=self._tokens_each
        )

    async def _exchange(self, seen: WorkerReport, wanted: int) -> PacingTurn:
        return await self._share.database.call(
            exchange, self._account, self._model, seen, wanted=wanted
        )

    async def _look(self) -> Pace:
        return await self._share.database.call(known_pace, self._account, self._model)
