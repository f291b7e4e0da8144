"""A program's calls to an endpoint, within its limits of concurrency and rate."""

import time

from geval.llm.cost import estimated_tokens
from geval.llm.endpoints import Client
from geval.llm.in_flight import InFlight
from geval.llm.metering import CallUsage, ask_counted
from geval.llm.pacer import Pacer
from geval.llm.pacing import Pace, PacingTurn, WorkerReport
from geval.llm.replies import Reply
from geval.llm.requests import Request


class Caller:
    """`spent` counts what calls used.

    A site's workers share a pace in their database; here there is a single caller with its own.

    Args:
        most: the limit of concurrent calls.
        characters_each: estimated length of a prompt, for limits on tokens.
    """

    def __init__(self, client: Client, *, most: int, characters_each: int) -> None:
        self.spent = CallUsage()
        self._client = client
        self._pace = Pace()
        self._in_flight = InFlight(most)
        self._pacer = Pacer(
            self._exchange, self._look, tokens_each=estimated_tokens(characters_each), most=most
        )

    async def call(self, request: Request) -> Reply:
        """Make a call as soon as it may be sent.

        Raises:
            EndpointError: the endpoint answered with an error, or not at all.
        """
        async with self._in_flight.call() as flight:
            number = await self._pacer.turn()
            try:
                await flight.leave()
                reply = await ask_counted(self._client, request, self.spent)
            except BaseException as error:
                self._pacer.ended(number, error)
                raise
        self._pacer.ended(number, limits=reply.limits)
        return reply

    async def _exchange(self, seen: WorkerReport, wanted: int) -> PacingTurn:
        now = time.monotonic()
        self._pace, slots = self._pace.learned(seen, now).reserved(wanted, now)
        return PacingTurn(self._pace, slots, now)

    async def _look(self) -> Pace:
        return self._pace
