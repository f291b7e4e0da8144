"""Endpoints that were lost during a run. Pure.

An endpoint that has answered and is not reached any more is away for a while: nobody has to do
anything, and no item fails for it. One that never answered may have a mistyped address, which only
a person can correct.

A question whose attempts all came to nothing, while no other call was answered either, and one
that was answered before is not answered now, shows that the endpoint is lost. Otherwise the
question may be what it cannot take.
"""

import datetime

from geval.llm.errors import LOST, EndpointError, ErrorKind

# How often a question is asked again, each time with all of its attempts, while others are
# answered: an outage may begin or end in the midst of one.
ROUNDS = 3
FIRST_WAIT = datetime.timedelta(seconds=30)
LONGEST_WAIT = datetime.timedelta(minutes=15)


def outage(error: EndpointError) -> EndpointError:
    """An error that says that the endpoint was lost, made of the last one that a call met."""
    return EndpointError(
        ErrorKind.OUTAGE,
        f"The endpoint answered before and does not now: {error.message} The run tries again by"
        " itself.",
        retry_after=error.retry_after,
    )


def outage_if_lost(error: EndpointError, *, has_answered: bool) -> EndpointError:
    """The outage that an error is of an endpoint that has answered; else the error itself."""
    return outage(error) if has_answered and error.kind in LOST else error


def next_wait(lasted: datetime.timedelta) -> datetime.timedelta:
    """How long to wait before the next trial call: as long as the outage has lasted, so that waits
    double, from half a minute to a quarter of an hour."""
    return max(FIRST_WAIT, min(LONGEST_WAIT, lasted))
