"""Estimate what a run would take before it is started: items, calls, tokens, money, and time, from
what is known of its judge and endpoint.

The evaluator itself composes its requests for a sample of the items, so that every kind is priced
by its own requests, including kinds from other packages.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from evaluations.judging.judges.criteria import prompt_parts
from evaluations.judging.runs.layout import missing_items, pilot_outputs
from evaluations.judging.runs.leases import ClaimedItem, items_with_texts
from evaluations.judging.runs.lifecycle import evaluator_for
from evaluations.judging.runs.quota import known_pace
from evaluations.judging.runs.run_questions import item_of
from evaluations.judging.runs.starting import RunRequest, run_parameters
from evaluations.models import Criterion, EvaluationRun, ItemState, Judge, RunState, Transport
from geval.evaluators.base import CriterionPrompt, Evaluator
from geval.evaluators.llm_evaluator import LlmEvaluator
from geval.llm.cost import cost, estimated_tokens
from geval.llm.decisions import DecisionRequest
from geval.llm.parsing import Failure
from geval.llm.prompts import STEPS_MAX_TOKENS, needs_steps, steps_request
from geval.llm.run_parameters import RunParameters
from geval_site.sql import fetch_rows

# Seconds per call if nothing else is known: a short answer of a hosted model.
SECONDS_A_CALL = 1.5
# How many of a judge's last runs to consider. The fastest counts, because a run may have been
# paused.
RUNS_LOOKED_AT = 5
# Fewer items say little: most of their time was start-up.
LEAST_ITEMS_OF_RUN = 20
# A rating in the form's wording; a reply is usually this short.
REPLY_TOKENS = 4
# Sample size: evenly spaced items that represent all of them.
LOOKED_AT = 400


@dataclass(frozen=True)
class RunEstimate:
    """An upper bound: outputs with the same text share a call, and stored replies cost nothing.

    `cost` is in the currency of the judge's prices, None without prices. `is_free` means that the
    evaluator calls no endpoint. `seconds` is the approximate duration, None if unknown.
    """

    items: int
    calls: int
    prompt_tokens: int
    completion_tokens: int
    cost: Decimal | None
    is_free: bool = False
    seconds: float | None = None


@dataclass
class _Tally:
    calls: float = 0
    prompt_tokens: float = 0
    completion_tokens: float = 0


def estimate_run(
    judge: Judge,
    criteria: Sequence[Criterion],
    *,
    fresh: bool,
    transport: str,
    pilot: int = 0,
    outputs: Sequence[int] = (),
) -> RunEstimate:
    """Estimate a run of a judge on criteria, including its evaluation steps.

    Args:
        pilot: on how many documents only; 0 for all.
        outputs: ids of the outputs to judge; empty for all.

    Raises:
        PromptError: a criterion's prompt cannot be sent.
        RunError: there is no such evaluator, or it does not take the judge's settings.
    """
    evaluator = evaluator_for(judge)
    parameters = run_parameters(judge, RunRequest(fresh=fresh, transport=transport))
    prompts = {
        criterion.pk: _prompt(evaluator, judge, criterion)
        for criterion in (criteria if evaluator.per_criterion else ())
    }
    if pilot:
        outputs = pilot_outputs(judge.project_id, list(prompts), documents=pilot) or (0,)
    count, looked_at = _missing(evaluator, judge, prompts, fresh=fresh, outputs=outputs)
    if not isinstance(evaluator, LlmEvaluator):
        seconds = expected_seconds(judge, parameters, items=count, calls=0, tokens=0)
        return RunEstimate(count, 0, 0, 0, None, is_free=True, seconds=seconds)
    tally = _Tally()
    asked = len({item.criterion_id for item in looked_at})
    for item in looked_at:
        _add_item(tally, evaluator, parameters, item, prompts, criteria=asked)
    share = count / len(looked_at) if looked_at else 0.0
    total = _Tally(
        tally.calls * share, tally.prompt_tokens * share, tally.completion_tokens * share
    )
    _add_steps(total, evaluator, judge, criteria, parameters)
    prompt_tokens, completion_tokens = round(total.prompt_tokens), round(total.completion_tokens)
    calls = round(total.calls)
    tokens = prompt_tokens + completion_tokens
    return RunEstimate(
        count,
        calls,
        prompt_tokens,
        completion_tokens,
        cost(prompt_tokens, completion_tokens, parameters.prices),
        seconds=expected_seconds(judge, parameters, items=count, calls=calls, tokens=tokens),
    )


def _prompt(evaluator: Evaluator, judge: Judge, criterion: Criterion) -> CriterionPrompt:
    steps = criterion.newest_steps if evaluator.writes_steps and judge.use_steps else None
    template = evaluator.template(prompt_parts(criterion), steps.text if steps else None)
    return CriterionPrompt(template, criterion.name, criterion.scale)


def _add_item(
    tally: _Tally,
    evaluator: LlmEvaluator,
    parameters: RunParameters,
    item: ClaimedItem,
    prompts: Mapping[int, CriterionPrompt],
    *,
    criteria: int,
) -> None:
    """Add the calls for one item to the tally.

    Args:
        criteria: how many criteria lack scores; a call about several is shared by their items.
    """
    seen, about = item_of(item, prompts)
    question = evaluator.question(seen, about.scale, parameters.request_settings)
    if isinstance(question, Failure):
        return  # fails without a call
    for request in evaluator.requests(question, parameters.request_settings):
        together = len(request.questions) if isinstance(request, DecisionRequest) else 1
        share = 1 / min(together, criteria) if evaluator.asks_together else 1.0
        # The prompt is charged for each call that its replies are split into.
        calls = share * parameters.fit.calls_for(request.n)
        tally.calls += calls
        tally.prompt_tokens += calls * estimated_tokens(len(request.shown))
        tally.completion_tokens += share * min(request.n * REPLY_TOKENS, request.most_reply_tokens)


def _add_steps(
    tally: _Tally,
    evaluator: Evaluator,
    judge: Judge,
    criteria: Sequence[Criterion],
    parameters: RunParameters,
) -> None:
    """Add the calls that write steps for criteria without steps."""
    if not (evaluator.writes_steps and judge.use_steps):
        return
    for criterion in criteria:
        if (
            needs_steps(prompt_parts(criterion))
            and not evaluator.has_steps(criterion.name)
            and criterion.newest_steps is None
        ):
            request = steps_request(prompt_parts(criterion), parameters.request_settings)
            tally.calls += 1
            tally.prompt_tokens += estimated_tokens(len(request.shown))
            tally.completion_tokens += STEPS_MAX_TOKENS / 2


def _missing(
    evaluator: Evaluator,
    judge: Judge,
    prompts: Mapping[int, CriterionPrompt],
    *,
    fresh: bool,
    outputs: Sequence[int],
) -> tuple[int, list[ClaimedItem]]:
    """Return how many items the run would have, and a sample of them, evenly spaced, with their
    texts."""
    query, given = missing_items(
        evaluator,
        project=judge.project_id,
        judge=judge.pk,
        templates={pk: about.template for pk, about in prompts.items()},
        fresh=fresh,
        outputs=outputs,
    )
    numbered = f"""SELECT m.*, row_number() OVER () - 1 AS number, count(*) OVER () AS total
                   FROM ({query}) AS m (output_id, criterion_id, rival_id)"""
    rows = fetch_rows(
        f"""SELECT total, output_id, criterion_id, rival_id FROM ({numbered}) AS n
            WHERE number %% greatest(1, (total + %(most)s - 1) / %(most)s) = 0
            ORDER BY number""",
        given | {"most": LOOKED_AT},
    )
    total = int(rows[0][0]) if rows else 0
    return total, items_with_texts([tuple(row[1:]) for row in rows])


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
    return calls / min([pace, *_endpoint_limits(judge, tokens / calls)])


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
    done = run.items_by_state()[ItemState.DONE] - run.cache_hits
    return done / seconds if done >= LEAST_ITEMS_OF_RUN and seconds > 0 else None


def _endpoint_limits(judge: Judge, tokens_each: float) -> list[float]:
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
