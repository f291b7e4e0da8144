"""A run from start to end: made with its criteria, prepared (steps written, prompts frozen, items laid out), closed."""

import datetime
from collections.abc import Sequence
from typing import Any

from django.db import connection, transaction
from django.db.models import Q
from django.utils import timezone

import geval_site
from evaluations.judging.calls import RetryPolicy, ask_until_answered
from evaluations.judging.endpoints import ChatRequest, Client
from evaluations.judging.prompts import compose_template, needs_steps
from evaluations.judging.steps import prompt_parts, read_steps, steps_request, store_steps
from evaluations.models import Criterion, EvaluationRun, ItemState, Judge, RunCriterion, RunState

PREPARE_LEASE = datetime.timedelta(minutes=5)


class RunError(ValueError):
    """A run that cannot be started; the message says why and what to do."""


@transaction.atomic
def start_run(judge: Judge, criteria: Sequence[Criterion], *, fresh: bool = False) -> EvaluationRun:
    """Make a run of a judge on criteria; workers are woken when the transaction ends.

    Args:
        fresh: judge everything again and ask again, where otherwise only missing scores are filled.

    Raises:
        RunError: nothing to judge, a judge that cannot run, or one that is at it already.
        PromptError: a criterion's prompt cannot be sent.
    """
    from evaluations.tasks import wake_workers

    Judge.objects.select_for_update().get(pk=judge.pk)
    if not judge.can_run:
        raise RunError(f"{judge.name} holds imported scores; it cannot be run. Choose a G-Eval judge.")
    if not criteria:
        raise RunError("There is no criterion to judge on; add one or name one.")
    busy = judge.runs.active().first()
    if busy:
        raise RunError(f"Run {busy.pk} of {judge.name} is still under way; wait for it, or pause it first.")
    run = EvaluationRun.objects.create(
        project=judge.project,
        judge=judge,
        parameters=_parameters(judge, fresh=fresh),
        software_version=geval_site.__version__,
    )
    for criterion in criteria:
        # Composed once without steps, so that a bad placeholder is refused before anything is paid.
        RunCriterion.objects.create(
            run=run, criterion=criterion, template=compose_template(prompt_parts(criterion), steps=None)
        )
    transaction.on_commit(lambda: wake_workers(run.pk))
    return run


@transaction.atomic
def resume_run(run: EvaluationRun, *, retry_failed: bool = False) -> bool:
    """Let a paused run go on, or a finished one try its failed items again; False if there is nothing to go on with."""
    from evaluations.tasks import wake_workers

    run = EvaluationRun.objects.select_for_update().get(pk=run.pk)
    if run.is_active:
        return False
    if retry_failed:
        run.items.filter(state=ItemState.FAILED).update(state=ItemState.PENDING, reason="", detail="")
    prepared = run.started_at is not None
    if prepared and not run.items.open().exists():
        return False
    run.state = RunState.RUNNING if prepared else RunState.PREPARING
    run.message, run.finished_at, run.preparer_until = "", None, None
    run.save(update_fields=["state", "message", "finished_at", "preparer_until"])
    transaction.on_commit(lambda: wake_workers(run.pk))
    return True


def pause_run(run_id: int, message: str) -> bool:
    """Stop a run where it stands, with the reason; True if it was under way."""
    waiting = EvaluationRun.objects.active().filter(pk=run_id)
    return waiting.update(state=RunState.PAUSED, message=message) == 1


def claim_preparation(run_id: int) -> bool:
    """Take the preparing of a run; of several workers one gets it, and another may if that one is lost."""
    free = Q(preparer_until=None) | Q(preparer_until__lt=timezone.now())
    waiting = EvaluationRun.objects.filter(free, pk=run_id, state=RunState.PREPARING)
    return waiting.update(preparer_until=timezone.now() + PREPARE_LEASE) == 1


def missing_steps(run: EvaluationRun) -> dict[int, ChatRequest]:
    """The requests for evaluation steps that criteria of the run need and do not have, by criterion id."""
    if not run.parameters["use_steps"]:
        return {}
    criteria = [entry.criterion for entry in run.run_criteria.select_related("criterion")]
    return {
        criterion.pk: steps_request(criterion, model=run.parameters["model"])
        for criterion in criteria
        if needs_steps(prompt_parts(criterion)) and not criterion.steps.exists()
    }


async def write_steps(wanted: dict[int, ChatRequest], client: Client, policy: RetryPolicy) -> dict[int, str]:
    """Ask the LLM for the steps of each criterion: criterion id -> text.

    Raises:
        EndpointError, StepsError: the endpoint does not answer, or not with steps.
    """
    return {
        criterion_id: read_steps(await ask_until_answered(client.chat, request, policy=policy))
        for criterion_id, request in wanted.items()
    }


@transaction.atomic
def lay_out_run(run_id: int, written_steps: dict[int, str]) -> int:
    """Store new steps, freeze the prompts, lay out the items, and set the run going; returns the number of items.

    A run that another worker laid out in the meantime is left as it is.
    """
    run = EvaluationRun.objects.select_for_update().select_related("project").get(pk=run_id)
    if run.state != RunState.PREPARING:
        return 0
    for entry in run.run_criteria.select_related("criterion"):
        criterion = entry.criterion
        if criterion.pk in written_steps:
            store_steps(criterion, written_steps[criterion.pk], written_by=run.parameters["model"])
        parts = prompt_parts(criterion)
        steps = criterion.newest_steps if run.parameters["use_steps"] and needs_steps(parts) else None
        entry.steps = steps
        entry.template = compose_template(parts, steps=steps.text if steps else None)
        entry.save(update_fields=["steps", "template"])
    laid_out = _insert_items(run)
    run.state, run.started_at = RunState.RUNNING, timezone.now()
    run.save(update_fields=["state", "started_at"])
    close_if_finished(run_id)
    return laid_out


def close_if_finished(run_id: int) -> bool:
    """Mark a running run as done if no item is open any more; True for the one call that did it."""
    with connection.cursor() as cursor:
        cursor.execute(
            """UPDATE evaluations_evaluationrun SET state = 'done', finished_at = now()
               WHERE id = %(run)s AND state = 'running' AND NOT EXISTS (
                   SELECT FROM evaluations_runitem WHERE run_id = %(run)s AND state IN ('pending', 'leased'))""",
            {"run": run_id},
        )
        return cursor.rowcount == 1


def _parameters(judge: Judge, *, fresh: bool) -> dict[str, Any]:
    endpoint = judge.endpoint
    return {
        "base_url": endpoint.base_url if endpoint else "",
        "model": judge.model,
        "mode": judge.mode,
        "samples": judge.samples,
        "temperature": judge.temperature,
        "max_tokens": judge.max_tokens,
        "use_steps": judge.use_steps,
        "concurrency": judge.concurrency,
        "timeout_seconds": judge.timeout_seconds,
        "fresh": fresh,
    }


def _insert_items(run: EvaluationRun) -> int:
    """One item for each output and criterion that lacks a score of this judge with this very prompt.

    In the order criterion, document, system: calls that share the longest beginning of a prompt follow each other,
    which is what the prefix caches of providers reward.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            """INSERT INTO evaluations_runitem
                   (run_id, output_id, criterion_id, state, leased_by, attempts, reason, detail)
               SELECT %(run)s, o.id, rc.criterion_id, 'pending', '', 0, '', ''
               FROM evaluations_runcriterion rc
               JOIN evaluations_criterion c ON c.id = rc.criterion_id
               JOIN evaluations_document d ON d.project_id = %(project)s
               JOIN evaluations_candidateoutput o ON o.document_id = d.id
               WHERE rc.run_id = %(run)s AND (%(fresh)s OR NOT EXISTS (
                   SELECT FROM evaluations_score s
                   JOIN evaluations_evaluationrun r ON r.id = s.run_id AND r.judge_id = %(judge)s
                   JOIN evaluations_runcriterion earlier
                     ON earlier.run_id = r.id AND earlier.criterion_id = rc.criterion_id
                    AND earlier.template = rc.template
                   WHERE s.output_id = o.id AND s.criterion_id = rc.criterion_id))
               ORDER BY c.position, c.id, d.id, o.system_id""",
            {
                "run": run.pk,
                "project": run.project_id,
                "judge": run.judge_id,
                "fresh": bool(run.parameters["fresh"]),
            },
        )
        return cursor.rowcount
