"""Estimate a run's duration before it is started, from what is known of its judge and endpoint."""

from evaluations.judging.runs.quota import known_pace
from evaluations.models import EvaluationRun, ItemState, Judge, RunState, Transport
from geval.llm.run_parameters import RunParameters

# Seconds per call if nothing else is known: a short answer of a hosted model.
SECONDS_A_CALL = 1.5
# How many of a judge's last runs to consider. The fastest counts, because a run may have been
# paused.
RUNS_LOOKED_AT = 5
# Fewer items say little: most of their time was start-up.
LEAST_ITEMS = 20


def expected_seconds(
    judge: Judge,
    parameters: RunParameters,
    *,
    items: int,
    calls: int,
    tokens: int,
    seconds_a_call: float = SECONDS_A_CALL,
    in_flight: int | None = None,
) -> float | None:
    """Estimate a run's duration in seconds; None if it cannot be estimated, as for batches.

    Uses the judge's past pace, or else its calls in flight; never faster than the endpoint allows.

    Args:
        calls: number of calls to the endpoint; 0 for a judge that computes locally.
        tokens: input and output tokens of all calls together.
        seconds_a_call: duration of a call while `in_flight` calls are open (None: the judge's
            concurrency), for a judge without a past pace.
    """
    if parameters.transport == Transport.BATCH or not items:
        return None
    past = _items_per_second(judge)
    if not calls:
        return items / past if past else None
    open_calls = min(in_flight or parameters.concurrency, parameters.concurrency)
    pace = calls * past / items if past else open_calls / max(seconds_a_call, 1e-3)
    return calls / min([pace, *_limits(judge, tokens / calls)])


def _items_per_second(judge: Judge) -> float | None:
    """Return the recent pace of a judge in items per second; None if it has not run long enough."""
    runs = EvaluationRun.objects.filter(
        judge__project=judge.project_id,
        judge__name=judge.name,
        state=RunState.DONE,
        started_at__isnull=False,
        finished_at__isnull=False,
        search=None,
        purpose="",
    )
    paces = [_pace_of(run) for run in runs[:RUNS_LOOKED_AT]]
    return max((pace for pace in paces if pace), default=None)


def _pace_of(run: EvaluationRun) -> float | None:
    if run.started_at is None or run.finished_at is None:
        return None
    seconds = (run.finished_at - run.started_at).total_seconds()
    # Items answered from the store took no call, so they say nothing about calls.
    done = run.items.filter(state=ItemState.DONE).count() - run.cache_hits
    return done / seconds if done >= LEAST_ITEMS and seconds > 0 else None


def _limits(judge: Judge, tokens_each: float) -> list[float]:
    """Return the limits of the endpoint in calls per second, as configured and as learned."""
    endpoint = judge.endpoint
    if endpoint is None:
        return []
    limits = []
    if endpoint.requests_per_minute:
        limits.append(endpoint.requests_per_minute / 60)
    if endpoint.tokens_per_minute and tokens_each:
        limits.append(endpoint.tokens_per_minute / 60 / tokens_each)
    learned = known_pace(endpoint.account, judge.model).rate
    return [*limits, learned] if learned else limits
