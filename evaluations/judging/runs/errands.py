"""Errands: single questions to endpoints that workers ask: probes, evaluation steps, explanations.
Rows hold their progress.

A project has only a few of them in progress at a time, so that its unresponsive endpoints do not
occupy all workers.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import structlog
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from evaluations.judging.judges.clients import ask_model
from evaluations.judging.judges.criteria import generate_steps, propose_items
from evaluations.judging.judges.listing import find_models
from evaluations.judging.judges.probing import PROBE_PATIENCE_SECONDS, probe_endpoint
from evaluations.judging.runs.accounts import read_account
from evaluations.judging.runs.leases import ClaimedItem
from evaluations.judging.runs.lifecycle import evaluator_of
from evaluations.judging.runs.run_questions import criterion_prompts, question_about
from evaluations.models import (
    Criterion,
    Endpoint,
    Errand,
    ErrandState,
    Explanation,
    Judge,
    ModelProbe,
    Score,
    StepsRequest,
)
from evaluations.models.errands import MOST_ATTEMPTS
from evaluations.models.sealing import SealError
from evaluations.people.counting import count_money
from evaluations.people.waking import wake_for_errand
from geval.evaluators.geval import GEval
from geval.evaluators.registry import make_evaluator
from geval.llm.errors import EndpointError, ErrorKind
from geval.llm.judgement import JudgeQuestion
from geval.llm.prompts import PromptError
from geval.llm.requests import ChatRequest
from geval.llm.scoring import Scored
from geval.llm.time_limit import PATIENCE_SECONDS
from geval.llm.written_steps import StepsError
from geval.statistics.scales import NOT_APPLICABLE, short
from geval_site.sql import execute_sql

# Some sentences; each token costs money and time.
EXPLANATION_TOKENS = 200
# Below an errand's limit (`PATIENCE_SECONDS`), which includes retries.
EXPLAIN_SECONDS = 60.0
# A worker that exceeds an errand's time limit has died.
LATE = timedelta(seconds=30)
MOST_IN_HAND = 4
_LOCK = (
    # any constant: with a project's id it forms the lock under which errands are claimed
    0x65727264
)
log = structlog.stdlib.get_logger(__name__)


@dataclass(frozen=True)
class ErrandKind:
    """A kind of errand: its rows, the function that does it and stores the answer, and its time
    limit in seconds."""

    model: type[Errand]
    do: Callable[[Any], None]
    seconds: float = PATIENCE_SECONDS


def _probe(probe: ModelProbe) -> None:
    try:
        if probe.model:
            probe_endpoint(probe.endpoint, probe.model, options=probe.request_options)
        else:
            find_models(probe.endpoint)
    finally:
        # Only a worker knows whether the variable with the key is set.
        with suppress(SealError):
            read_account(probe.endpoint)


def _write_steps(wanted: StepsRequest) -> None:
    if wanted.is_for_items:
        answer: dict[str, Any] = {"items_text": propose_items(wanted.criterion, wanted.judge)}
    else:
        answer = {"steps": generate_steps(wanted.criterion, wanted.judge)}
    StepsRequest.objects.filter(pk=wanted.pk).update(**answer)


def explain(wanted: Explanation) -> None:
    """Ask the model for its reasons for a score, and store them; the score never changes.

    Raises:
        EndpointError: the endpoint does not answer, or the run's endpoint was deleted.
    """
    score = wanted.score
    endpoint = score.run.judge.endpoint
    if endpoint is None or score.criterion_id is None:
        raise EndpointError(
            ErrorKind.BAD_REQUEST, "This score was imported; there is no model to ask."
        )
    answer = ask_model(endpoint, _explanation_request(score), timeout=EXPLAIN_SECONDS)
    count_money(score.run_id, answer.prompt_tokens, answer.completion_tokens)
    Explanation.objects.filter(pk=wanted.pk).update(
        text=answer.choices[0].text.strip() or "(The model said nothing.)",
        model=answer.model[:200],
        request_id=answer.request_id[:200],
        prompt_tokens=answer.prompt_tokens,
        completion_tokens=answer.completion_tokens,
    )


def _score_as_asked(score: Score) -> str:
    """Return a score as text, on the scale that the model was asked for."""
    if score.value is None:
        return NOT_APPLICABLE
    evaluator = make_evaluator(*evaluator_of(score.run))
    value = score.value
    if score.criterion is not None and isinstance(evaluator, GEval):
        question = evaluator.question_of(score.criterion.name, score.criterion.scale)
        if question.onto is not None:
            value = Scored.plain(value).brought(question.onto, question.scale).value
    return short(round(value, 2))


def _explanation_request(score: Score) -> ChatRequest:
    run, output = score.run, score.output
    item = ClaimedItem(0, output.pk, score.criterion_id or 0, output.texts())
    question = question_about(item, criterion_prompts(run))
    settings = run.frozen.request_settings
    prompt = question.prompt if isinstance(question, JudgeQuestion) else ""
    rated = _score_as_asked(score)
    request = (
        f"You rated this {rated}. In at most three sentences, which parts of the text led to that?"
    )
    return ChatRequest(
        model=settings.model,
        prompt=f"{prompt} {rated}\n\n{request}",
        temperature=None if settings.temperature is None else 0.0,
        max_tokens=EXPLANATION_TOKENS,
        length_parameter=settings.length_parameter,
        options=settings.options,
    )


KINDS = {
    "probe": ErrandKind(ModelProbe, _probe, PROBE_PATIENCE_SECONDS),
    "steps": ErrandKind(StepsRequest, _write_steps),
    "explanation": ErrandKind(Explanation, explain),
}


# Requesting


def request_probe(
    endpoint: Endpoint, model: str, options: Mapping[str, Any] | None = None
) -> ModelProbe:
    """Have a worker probe an endpoint for a model with a judge's request options; concurrent
    requests share one probe."""
    asked = {"endpoint": endpoint, "model": model, "request_options": dict(options or {})}
    probe: ModelProbe = _request("probe", **asked)
    return probe


def request_models(endpoint: Endpoint) -> ModelProbe:
    """Have a worker ask an endpoint which models it lists."""
    return request_probe(endpoint, "")


def request_steps(
    criterion: Criterion, judge: Judge, *, is_for_items: bool = False
) -> StepsRequest:
    """Have a judge's model write a new version of a criterion's steps, or a rubric's items."""
    wanted: StepsRequest = _request(
        "steps", criterion=criterion, judge=judge, is_for_items=is_for_items
    )
    return wanted


def request_explanation(score: Score) -> Explanation:
    """Have a worker ask the model of a score for its reasons, unless that was requested before."""
    existing = Explanation.objects.filter(score=score, state=ErrandState.DONE).first()
    return existing or _request("explanation", score=score)


def _request(kind: str, **which: Any) -> Any:
    with transaction.atomic():
        errand, made = KINDS[kind].model.objects.get_or_create(
            **which, defaults={"state": ErrandState.WAITING}
        )
        if not made and not errand.is_open:
            # Of two concurrent requests one changes the row; both see the same errand.
            errand.state, errand.message, errand.attempts = ErrandState.WAITING, "", 0
            errand.wanted_at = timezone.now()
            errand.save(update_fields=["state", "message", "attempts", "wanted_at"])
        if made or errand.state == ErrandState.WAITING:
            transaction.on_commit(lambda: wake_for_errand(kind, errand.pk))
    return errand


# Working


def work_on_errand(kind: str, pk: int) -> None:
    """Do an errand, unless another worker does, then the waiting errands of its project."""
    claimed = _claim(kind, pk)
    if claimed is None:
        return
    errand, project = claimed
    try:
        KINDS[kind].do(errand)
        _finish(errand, ErrandState.DONE, "")
    except (EndpointError, StepsError, PromptError) as error:
        _finish(errand, ErrandState.FAILED, str(error))
    except Exception as error:
        log.exception("errand failed unexpectedly", kind=kind, errand=pk)
        _finish(
            errand,
            ErrandState.FAILED,
            f"It failed unexpectedly ({type(error).__name__}). Try again.",
        )
    _wake_waiting(project)


def neglected_errands() -> list[tuple[str, int]]:
    """Return the errands that no worker does; end those that were started too often."""
    return [(name, pk) for name, kind in KINDS.items() for pk in kind.model.objects.neglected()]


def _claim(kind: str, pk: int) -> tuple[Any, int] | None:
    """Lease an errand; return it and its project, or None if it is not free or the project has
    enough in progress."""
    model = KINDS[kind].model
    project = model.objects.filter(pk=pk).values_list(model.PROJECT, flat=True).first()
    if project is None:
        return None
    with transaction.atomic():
        # Workers count a project's errands one after another, or two would both take the last
        # place. No row stands for all kinds of errands, so there is none to lock.
        execute_sql("SELECT pg_advisory_xact_lock(%s, %s)", [_LOCK, project % 2**31])
        if _in_hand(project) >= MOST_IN_HAND:
            return None
        errand_row = model.objects.free().filter(pk=pk, attempts__lt=MOST_ATTEMPTS)
        if not errand_row.update(
            state=ErrandState.ASKING,
            attempts=F("attempts") + 1,
            taken_until=timezone.now() + timedelta(seconds=KINDS[kind].seconds) + LATE,
            message="",
        ):
            return None
        return model.objects.get(pk=pk), project


def _in_hand(project: int) -> int:
    models = [kind.model for kind in KINDS.values()]
    return sum(
        model.objects.in_progress().filter(**{model.PROJECT: project}).count() for model in models
    )


def _finish(errand: Errand, state: ErrandState, message: str) -> None:
    """End an errand, unless another worker has taken it over or it was removed."""
    held = type(errand).objects.filter(
        pk=errand.pk, state=ErrandState.ASKING, attempts=errand.attempts
    )
    held.update(state=state, message=message[:1000], taken_until=None)


def _wake_waiting(project: int) -> None:
    for name, kind in KINDS.items():
        waiting = (
            kind.model.objects.free().filter(**{kind.model.PROJECT: project}).order_by("wanted_at")
        )
        for pk in waiting.values_list("pk", flat=True)[:1]:
            wake_for_errand(name, pk)
