"""Endpoints that were lost during a run. Pure.

An endpoint that answered before and is now unreachable is treated as temporarily away: nobody has
to act, and no item fails for it. An endpoint that never answered may have a mistyped address, which
only a person can correct.

The endpoint counts as lost if all attempts at a question failed while no other call was answered,
and a question that was answered before is not answered now. Otherwise the question itself may be
what the endpoint cannot handle.
"""

import datetime

from geval.llm.errors import LOST, EndpointError, ErrorKind

# How often a question is asked, each time with all of its attempts, while others are answered: an
# outage may begin or end in the middle of a round.
ROUNDS = 3
FIRST_WAIT = datetime.timedelta(seconds=30)
LONGEST_WAIT = datetime.timedelta(minutes=15)


def outage(error: EndpointError) -> EndpointError:
    """Return an error that reports an outage, made from the last error of a call."""
    return EndpointError(
        ErrorKind.OUTAGE,
        f"The endpoint answered before and does not now: {error.message} The run tries again by"
        " itself.",
        retry_after=error.retry_after,
    )


def outage_if_lost(error: EndpointError, *, has_answered: bool) -> EndpointError:
    """Return an outage if the endpoint has answered before and is lost now; otherwise the error
    itself."""
    return outage(error) if has_answered and error.kind in LOST else error


def next_wait(lasted: datetime.timedelta) -> datetime.timedelta:
    """Return how long to wait before the next trial call: as long as the outage has lasted, so that
    waits double, from half a minute to a quarter of an hour."""
    return max(FIRST_WAIT, min(LONGEST_WAIT, lasted))
