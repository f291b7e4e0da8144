"""How long a call to an endpoint may take: as long as somebody has set, or as follows from how fast
the server answers. Pure; the one place of this rule.

Without a limit of its own a call may take

    60 s + 0.2 s for each token that its reply may have,
    or 10 times the slowest of the last answered calls, if that is more,
    or twice the limit that calls have missed since the last answer, if that is more,

and never more than 15 minutes. So a short reply of a hosted model that hangs is given up after
about a minute, and a slow server of one's own, whose calls wait for each other, gets the time it
needs after a call or two.
"""

from collections import deque

DEFAULT_SECONDS = 60.0
SECONDS_A_TOKEN = 0.2
TIMES_THE_SLOWEST = 10
CALLS_LOOKED_AT = 50
MOST_SECONDS = 900.0


class TimeLimit:
    """The limit of the calls of one client, in seconds.

    Args:
        stated: a limit for every call; None to follow the server's speed.
    """

    def __init__(self, stated: float | None = None) -> None:
        self._stated = stated
        self._answered: deque[float] = deque(maxlen=CALLS_LOOKED_AT)
        self._missed = 0.0

    @property
    def most(self) -> float:
        """The most that any call may ever take."""
        return MOST_SECONDS if self._stated is None else self._stated

    def seconds(self, reply_tokens: int = 0) -> float:
        """What a call may take whose reply has at most so many tokens."""
        if self._stated is not None:
            return self._stated
        usual = DEFAULT_SECONDS + SECONDS_A_TOKEN * reply_tokens
        slowest = TIMES_THE_SLOWEST * max(self._answered, default=0.0)
        return min(MOST_SECONDS, max(usual, slowest, 2 * self._missed))

    def note_answered(self, seconds: float) -> None:
        """A call was answered after so long."""
        self._answered.append(seconds)
        # Now it is known how fast the server is: a call that hung says nothing of the next ones.
        self._missed = 0.0

    def note_missed(self, limit: float) -> None:
        """A call was given up after this limit. Calls that were sent with the same one count
        once."""
        self._missed = max(self._missed, limit)
