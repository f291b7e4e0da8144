"""Runs that pause and resume by themselves: outages of an endpoint, daily quotas, waits of hours,
accounts without credit, a full disk.

The time to resume is in the run's row, so that restarts lose nothing; workers poll for it
(upkeep.py). A run that a person paused has no such time.

An endpoint that answered before and is now unreachable is treated as temporarily away: nobody has
to act, and no item fails for it. An endpoint that never answered may have a mistyped address, which
only a person can correct.

The endpoint counts as lost if all attempts at a question failed while no other call was answered,
and a question that was answered before is not answered now. Otherwise the question itself may be
what the endpoint cannot handle.
"""

import datetime

from django.db.models import Q, Value
from django.db.models.functions import Coalesce
from django.utils import timezone

from evaluations.judging.runs import quota
from evaluations.judging.runs.lifecycle import pause_run, resume_run
from evaluations.models import EvaluationRun
from evaluations.models.row_by_row import for_each
from geval.llm.errors import LOST, UNSURE, EndpointError, ErrorKind

# How often a single call tries, if the endpoint does not say when it accepts calls again.
TRY_AGAIN = datetime.timedelta(hours=1)
_PASSES_BY_ITSELF = {ErrorKind.LONG_WAIT, ErrorKind.QUOTA, ErrorKind.OUTAGE}
# How often a question is asked, each time with all of its attempts, while others are answered: an
# outage may begin or end in the middle of a round.
QUESTION_ROUNDS = 3
FIRST_OUTAGE_WAIT = datetime.timedelta(seconds=30)
LONGEST_OUTAGE_WAIT = datetime.timedelta(minutes=15)
# So long an endpoint that refuses the key or does not know the model, although it has answered, is
# tried; then a person decides.
UNSURE_FOR = datetime.timedelta(hours=1)


AGAIN = "The run tries again by itself."
AGAIN_FOR_AN_HOUR = "The run tries again by itself for an hour."


def pause_after(
    run: EvaluationRun,
    message: str,
    error: EndpointError | None,
    *,
    until: datetime.datetime | None = None,
) -> None:
    """Pause a run for all workers; after a transient error, until it should be over.

    Then a single call goes out first, from any worker; the others wait until it succeeds.

    Args:
        until: when the run resumes by itself, if the error does not say so.
    """
    if error is None or error.kind not in _PASSES_BY_ITSELF:
        pause_run(run.pk, message, resumes_at=until)
        return
    asked = datetime.timedelta(seconds=error.retry_after or 0)
    if error.kind == ErrorKind.OUTAGE:
        lasted = _outage_lasted(run.pk)
        if error.cause in UNSURE and lasted >= UNSURE_FOR:
            pause_run(run.pk, message.removesuffix(AGAIN_FOR_AN_HOUR).rstrip())
            return
        wait = max(asked, next_outage_wait(lasted))
    else:
        wait = TRY_AGAIN if error.retry_after is None else asked
    endpoint = run.judge.endpoint
    if endpoint is not None:
        quota.close(endpoint.account, run.frozen.model)
    pause_run(run.pk, message, resumes_at=timezone.now() + wait)


def pause_until_space(run_id: int, message: str) -> None:
    """Pause a run whose results do not fit into the database, for as long as after an outage of its
    endpoint."""
    wait = next_outage_wait(_outage_lasted(run_id))
    pause_run(run_id, message, resumes_at=timezone.now() + wait)


def _outage_lasted(run_id: int) -> datetime.timedelta:
    """Return how long the run has been stopped by an outage, which begins now if none was
    recorded."""
    now = timezone.now()
    began = Coalesce("outage_since", Value(now))
    EvaluationRun.objects.filter(pk=run_id).update(outage_since=began)
    since = EvaluationRun.objects.values_list("outage_since", flat=True).get(pk=run_id)
    return now - (since or now)


def resume_due_runs(which: Q | None = None) -> None:
    """Resume the runs that are due, optionally only those that match a condition."""
    due = EvaluationRun.objects.due().filter(which or Q())
    for_each(due, lambda run: resume_run(run, only_due=True), job="resume runs")


def outage(error: EndpointError, *, has_answered: bool = True) -> EndpointError:
    """Return an error that reports an outage, made from the last error of a call."""
    again = AGAIN_FOR_AN_HOUR if error.kind in UNSURE else AGAIN
    before = "The endpoint answered before and does not now: " if has_answered else ""
    return EndpointError(
        ErrorKind.OUTAGE,
        f"{before}{error.message} {again}",
        retry_after=error.retry_after,
        cause=error.kind,
    )


def outage_if_lost(error: EndpointError, *, has_answered: bool) -> EndpointError:
    """Return an outage if the endpoint has answered before and is lost now; otherwise the error
    itself."""
    return outage(error) if has_answered and error.kind in LOST else error


def next_outage_wait(lasted: datetime.timedelta) -> datetime.timedelta:
    """Return how long to wait before the next trial call: as long as the outage has lasted, so that
    waits double, from half a minute to a quarter of an hour."""
    return max(FIRST_OUTAGE_WAIT, min(LONGEST_OUTAGE_WAIT, lasted))
