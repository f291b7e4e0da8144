"""Time limits: of a call to an endpoint, a configured one or one that follows the server's speed,
and of a question with all its calls and retries; the only place with these rules.

Without a configured limit a call may take

    60 s + 0.2 s for each token that its reply may have,
    or 10 times the slowest of the last answered calls, if that is more,
    or twice the longest limit exceeded since the last answer, if that is more,

and never more than 15 minutes. So a hosted model that hangs on a short reply is given up after
about a minute, and a slow self-hosted server, whose calls wait for each other, gets the time it
needs after a call or two.
"""

import asyncio
from collections import deque
from collections.abc import Coroutine
from typing import Any, TypeVar

from geval.llm.errors import EndpointError, ErrorKind

DEFAULT_SECONDS = 60.0
SECONDS_A_TOKEN = 0.2
TIMES_THE_SLOWEST = 10
CALLS_LOOKED_AT = 50
MOST_SECONDS = 900.0
# Somebody waits for the answer, and calls with their retries could take far longer.
PATIENCE_SECONDS = 120.0
Result = TypeVar("Result")


class TimeLimit:
    """The time limit of one client's calls, in seconds.

    Args:
        stated: a limit for every call; None to follow the server's speed.
    """

    def __init__(self, stated: float | None = None) -> None:
        self._stated = stated
        self._answered: deque[float] = deque(maxlen=CALLS_LOOKED_AT)
        self._missed = 0.0

    @property
    def most(self) -> float:
        """The longest time that any call may take."""
        return MOST_SECONDS if self._stated is None else self._stated

    def seconds(self, reply_tokens: int = 0) -> float:
        """Return the limit of a call whose reply has at most this many tokens."""
        if self._stated is not None:
            return self._stated
        usual = DEFAULT_SECONDS + SECONDS_A_TOKEN * reply_tokens
        slowest = TIMES_THE_SLOWEST * max(self._answered, default=0.0)
        return min(MOST_SECONDS, max(usual, slowest, 2 * self._missed))

    def note_answered(self, seconds: float) -> None:
        """Record that a call was answered after this time."""
        self._answered.append(seconds)
        # The server's speed is known again, so earlier calls that hung no longer count.
        self._missed = 0.0

    def note_missed(self, limit: float) -> None:
        """Record that a call exceeded this limit. Calls sent with the same limit count once."""
        self._missed = max(self._missed, limit)


def ask_within_patience(
    question: Coroutine[Any, Any, Result], base_url: str, *, seconds: float = PATIENCE_SECONDS
) -> Result:
    """Await the answer to a question.

    Raises:
        EndpointError: it took too long, or the question failed.
    """

    async def ask() -> Result:
        async with asyncio.timeout(seconds):
            return await question

    try:
        return asyncio.run(ask())
    except TimeoutError:
        raise EndpointError(
            ErrorKind.TIMEOUT,
            f"{base_url} had not answered everything after {seconds:.0f} seconds.",
        ) from None
