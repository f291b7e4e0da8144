"""A run from start to end: created with its criteria, prepared (steps written, prompts frozen,
items laid out), closed."""

import datetime
import functools
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

import structlog
from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.utils import timezone

from evaluations.judging.judges.criteria import prompt_parts
from evaluations.judging.runs.layout import (
    LISTED_PARTS,
    Part,
    add_part,
    first_part_of,
    list_parts,
)
from evaluations.models import (
    Criterion,
    EvaluationRun,
    EvaluationSteps,
    ItemState,
    Judge,
    Project,
    RunItem,
    RunState,
)
from evaluations.models.runs import MORE_TO_LAY_OUT, PARTLY_LAID_OUT
from evaluations.models.sizes import refresh_after_commit
from evaluations.people.limits import LimitError, check_start
from evaluations.people.waking import wake_for_runs
from evaluations.people.webhooks.announcing import announce_run
from geval.evaluators.base import Evaluator, EvaluatorError, SettingsError
from geval.evaluators.registry import make_evaluator
from geval.llm.cost import cost, most_tokens
from geval.llm.judgement import read_attempts
from geval.llm.parsing import Reason
from geval.llm.prompt_examples import longest_filled
from geval.llm.prompts import needs_steps, steps_request
from geval.llm.request_options import why_refused
from geval.llm.requests import ChatRequest
from geval.texts.spelling import storable
from geval_site.sql import execute_sql, fetch_row, fetch_value

TOO_LONG = (
    "%s items are longer than the model's context, such as: %s All others are judged. Resume"
    " to leave them out, or retry them with a model that takes longer prompts."
)
QUOTES = re.compile(r": | \(|[“\"]|, such as| redirects to | does not know ")
log = structlog.stdlib.get_logger(__name__)
PREPARE_LEASE = datetime.timedelta(minutes=5)
# Workers that may be lost while preparing a run before the run is taken to be the cause.
MOST_PREPARATIONS = 3
PREPARATION_LOST = (
    f"{MOST_PREPARATIONS} workers ended while they prepared this run. Look at their logs, then"
    " resume the run."
)


# Any constant: with a run's id it forms the lock of the worker that lays out the rest.
_LOCK = 0x7265737
# How the message of a run that was paused by its budget begins.
BUDGET_REACHED = "The budget of"


class RunError(ValueError):
    """A run that cannot be started; the message says why and what to do."""


def check_limits(project: Project) -> None:
    """Check that limits of the project and its owner allow another run.

    Raises:
        RunError: a limit is reached; the message names it and says what to do.
    """
    try:
        check_start(project)
    except LimitError as error:
        raise RunError(str(error)) from None


def ids_of(run_id: int) -> dict[str, Any]:
    """Return the ids of a run for the log."""
    row = EvaluationRun.objects.filter(pk=run_id).values_list("project__slug", "judge_id").first()
    project, judge = row or (None, None)
    return {"run": run_id, "project": project, "judge": judge}


def log_on_commit(event: str, ids: dict[str, Any], **more: Any) -> None:
    """Log an event once its transaction is committed."""
    transaction.on_commit(lambda: log.info(event, **ids, **more))


def _opening(message: str) -> str:
    """Return the first words of a message, which are our own; what follows may quote a server or a
    text."""
    return QUOTES.split(message, maxsplit=1)[0].rstrip(".")


def evaluator_of(run: EvaluationRun) -> tuple[str, dict[str, Any]]:
    """Return the kind and settings that a run was started with, even if its judge has changed
    since."""
    frozen = run.frozen
    return frozen.kind or run.judge.kind, dict(frozen.settings)


def evaluator_for(judge: Judge, settings: Mapping[str, Any] | None = None) -> Evaluator:
    """Return a judge's evaluator, with the judge's settings unless others are given.

    Raises:
        RunError: its package is not installed, or no longer accepts the judge's settings.
    """
    try:
        return make_evaluator(judge.kind, judge.settings if settings is None else settings)
    except (EvaluatorError, SettingsError) as error:
        raise RunError(str(error)) from None


@transaction.atomic
def resume_run(
    run: EvaluationRun,
    *,
    retry_failed: bool = False,
    reason: str = "",
    budget: Decimal | None = None,
    only_due: bool = False,
) -> bool:
    """Resume a paused or failed run, or retry a finished run's failed items; return False if there
    is nothing to resume.

    Args:
        reason: retry only the items that failed for this reason.
        budget: a new budget, for a run that was paused by its budget.
        only_due: only resume a run that is due to resume by itself; a person may have just paused
            it.

    Raises:
        RunError: a limit of the project or its owner is reached, or its request options may not be
            sent.
    """
    # A person and the upkeep may resume a run at the same time; the second finds it active.
    run = EvaluationRun.objects.select_for_update().get(pk=run.pk)
    if only_due and not EvaluationRun.objects.due().filter(pk=run.pk).exists():
        return False
    if run.is_active or run.state == RunState.CANCELLED:
        return False
    if refusal := why_refused(run.frozen.request_options):
        raise RunError(refusal)
    if not only_due and run.search_id is None:
        check_limits(run.project)
    if retry_failed:
        failed = run.items.filter(state=ItemState.FAILED)
        if reason:
            failed = failed.filter(reason=reason)
        failed.update(state=ItemState.PENDING, reason="", detail="", attempts=0)
    prepared = run.started_at is not None
    ids = ids_of(run.pk)
    if not run.has_open_items:
        if run.state != RunState.PAUSED:
            return False
        is_announced = TOO_LONG.split("%s")[1] in run.message  # otherwise it pauses once more
        EvaluationRun.objects.filter(pk=run.pk).update(
            state=RunState.RUNNING,
            message="",
            resumes_at=None,
            resumed_at=timezone.now(),
            parameters=run.parameters | ({"leaves_out_too_long": True} if is_announced else {}),
        )
        log_on_commit("run resumed", ids)
        return close_if_finished(run.pk)
    run.state = RunState.RUNNING if prepared else RunState.PREPARING
    run.message, run.finished_at, run.preparer_until, run.preparations = "", None, None, 0
    run.resumes_at, run.resumed_at = None, timezone.now()
    if not only_due:
        run.outage_since = None  # a person may have fixed the endpoint
    run.batches.update(failures=0, look_at=timezone.now())
    if budget is not None:
        run.budget = budget
    run.save(
        update_fields=[
            "state",
            "message",
            "finished_at",
            "preparer_until",
            "preparations",
            "resumes_at",
            "resumed_at",
            "outage_since",
            "budget",
        ]
    )
    transaction.on_commit(lambda: wake_for_runs(run.project.slug))
    log_on_commit("run resumed", ids, retries_failed=retry_failed, by_itself=only_due)
    return True


def pause_run(run_id: int, message: str, *, resumes_at: datetime.datetime | None = None) -> bool:
    """Pause a run with the reason; return True if it was running.

    Args:
        resumes_at: when it resumes by itself (resuming.py); None if a person has to resume it.
    """
    return _pause(EvaluationRun.objects.active(), run_id, message, resumes_at=resumes_at)


def fail_run(run_id: int, message: str) -> bool:
    """Fail an active run without scores whose items failed alike; a person can retry it. Return
    True for the single call that did it; a run with scores is unchanged."""
    with transaction.atomic():
        scored = RunItem.objects.filter(run=OuterRef("pk"), state=ItemState.DONE)
        without_scores = EvaluationRun.objects.active().counting().exclude(Exists(scored))
        failed = without_scores.filter(pk=run_id).update(
            state=RunState.FAILED,
            message=storable(message),
            finished_at=timezone.now(),
            resumes_at=None,
        )
        if failed:
            announce_run(run_id)
            _log_closed(EvaluationRun.objects.get(pk=run_id))
    return failed == 1


def pause_by_person(run_id: int, person: object) -> bool:
    """Pause a run until a person resumes it, even if it would have resumed by itself."""
    pausable = EvaluationRun.objects.active() | EvaluationRun.objects.resuming()
    return _pause(pausable, run_id, f"Paused by {person}.")


def _pause(
    pausable: QuerySet[EvaluationRun],
    run_id: int,
    message: str,
    *,
    resumes_at: datetime.datetime | None = None,
) -> bool:
    ids = ids_of(run_id)
    paused = pausable.filter(pk=run_id).update(
        state=RunState.PAUSED, message=storable(message), resumes_at=resumes_at
    )
    if paused:
        log_on_commit("run paused", ids, message=_opening(message), resumes_at=resumes_at)
    return paused == 1


def cancel_run(run_id: int, message: str) -> bool:
    """Cancel a run for good, keeping its scores. Return True if it was running or paused."""
    waiting = EvaluationRun.objects.unfinished().filter(pk=run_id)
    ids, now = ids_of(run_id), timezone.now()
    cancelled = (
        waiting.update(state=RunState.CANCELLED, message=message, finished_at=now, resumes_at=None)
        == 1
    )
    if cancelled:
        log_on_commit("run cancelled", ids)
    return cancelled


def stop_at_goal(run_id: int, message: str) -> bool:
    """Stop a run that has reached its goal, leaving the remaining items unjudged. Return True for
    the single call that did it."""
    with transaction.atomic():
        ended = EvaluationRun.objects.filter(pk=run_id, state=RunState.RUNNING).update(
            state=RunState.DONE, message=message, finished_at=timezone.now(), resumes_at=None
        )
        if ended:
            announce_run(run_id)
            _log_closed(EvaluationRun.objects.get(pk=run_id))
    return ended == 1


@transaction.atomic
def claim_preparation(run_id: int) -> int | None:
    """Claim the preparation of a run for one worker; another worker may claim it if that one is
    lost.

    A run whose preparation lost several workers is paused.

    Returns:
        The claim's number, with which it is renewed; None if another worker has it.
    """
    waiting = EvaluationRun.objects.unattended().filter(pk=run_id, state=RunState.PREPARING)
    lost = waiting.filter(preparations__gte=MOST_PREPARATIONS)
    if lost.update(state=RunState.PAUSED, message=PREPARATION_LOST):
        log_on_commit("run paused", ids_of(run_id), message=_opening(PREPARATION_LOST))
        return None
    claimed = waiting.update(
        preparer_until=timezone.now() + PREPARE_LEASE, preparations=F("preparations") + 1
    )
    # The update has locked the row until the transaction ends.
    return EvaluationRun.objects.get(pk=run_id).preparations if claimed else None


def _preparing(run_id: int, claim: int) -> QuerySet[EvaluationRun]:
    """Return the run if it is being prepared under this claim."""
    return EvaluationRun.objects.filter(
        pk=run_id, state=RunState.PREPARING, preparations=claim, preparer_until__isnull=False
    )


def renew_preparation(run_id: int, claim: int) -> bool:
    """Renew the claim on a run's preparation; return False if this worker has lost it."""
    renewed = _preparing(run_id, claim).update(preparer_until=timezone.now() + PREPARE_LEASE)
    return renewed == 1


def leave_preparation(run_id: int, claim: int) -> None:
    """Release the preparation of a run to the next worker, without counting a lost worker."""
    _preparing(run_id, claim).update(preparer_until=None, preparations=claim - 1)


def missing_steps(run: EvaluationRun) -> dict[Criterion, ChatRequest]:
    """Return the requests for the evaluation steps that the run's criteria need and lack."""
    frozen = run.frozen
    evaluator = make_evaluator(*evaluator_of(run))
    if not frozen.use_steps or not evaluator.writes_steps:
        return {}
    criteria = run.judged_criteria()
    return {
        criterion: steps_request(prompt_parts(criterion), frozen.request_settings)
        for criterion in criteria
        if needs_steps(prompt_parts(criterion))
        and not evaluator.has_steps(criterion.name)
        and not criterion.steps.exists()
    }


def note_steps(run_id: int, missing: int) -> None:
    """Store how many steps the run needs to have written, for `steps_written`."""
    run = EvaluationRun.objects.get(pk=run_id)
    wanted = max(missing, run.parameters.get("steps_wanted", 0))
    EvaluationRun.objects.filter(pk=run_id).update(
        parameters=run.parameters | {"steps_wanted": wanted}
    )


def steps_written(run: EvaluationRun) -> tuple[int, int] | None:
    """Return how many of the steps that a run lacked are written, and how many it lacked; None for
    a run that is not being prepared, or lacked none."""
    wanted = run.parameters.get("steps_wanted", 0)
    if run.state != RunState.PREPARING or not wanted:
        return None
    return wanted - len(missing_steps(run)), wanted


def current_prompt(
    evaluator: Evaluator, criterion: Criterion, *, use_steps: bool
) -> tuple[EvaluationSteps | None, str]:
    """Return the prompt that a run would freeze now, and the steps in it."""
    parts = prompt_parts(criterion)
    steps = criterion.newest_steps if use_steps and needs_steps(parts) else None
    return steps, evaluator.template(parts, steps.text if steps else None)


def lay_out_run(run_id: int, *, stopped: Callable[[], bool] = lambda: False) -> int:
    """Freeze the prompts, lay out the items (or those of the first claims), and set the run to
    running. Return the number of items.

    A run that another worker lays out or has laid out is unchanged. One that is interrupted keeps
    its prompts and items; whoever prepares it next adds the others.

    Args:
        stopped: asked before each part; true to leave the others to the next worker.
    """
    return _lay_out(run_id, Q(state=RunState.PREPARING), stopped)


def lay_out_rest(run_id: int, *, stopped: Callable[[], bool] = lambda: False) -> int:
    """Lay out the remaining items of a running run; return how many.

    Every worker of the run calls this after its first claims: one of them does it, or the next if
    that one is lost. Until then the run does not end, even if no item is open.

    Args:
        stopped: as for `lay_out_run`.
    """
    return _lay_out(run_id, PARTLY_LAID_OUT & Q(state=RunState.RUNNING), stopped)


def _lay_out(run_id: int, during: Q, stopped: Callable[[], bool]) -> int:
    layout = _Layout(run_id, during)
    while not stopped() and layout.add_next_part():
        pass
    return layout.laid_out


class _Layout:
    """The layout of the items that a run lacks, each part in a transaction, as long as a condition
    holds for the run."""

    def __init__(self, run_id: int, during: Q) -> None:
        self.laid_out = 0
        self._run_id, self._during = run_id, during
        self._parts: list[Part] = []
        self._is_last_list = False
        self._sized: dict[str, Any] = {}
        self._analyzed = 0

    @transaction.atomic
    def add_next_part(self) -> bool:
        """Return whether another part may follow: false if all are laid out, the run was stopped,
        or another worker lays it out."""
        if not _is_alone(self._run_id):
            return False
        of_run = EvaluationRun.objects.filter(pk=self._run_id)
        if (run := of_run.filter(self._during).first()) is None:
            return False
        evaluator = make_evaluator(*evaluator_of(run))
        first = first_part_of(run, evaluator) if run.state == RunState.PREPARING else None
        if not self._parts:
            if not run.item_count:
                _freeze_prompts(run, evaluator)
            self._parts = list_parts(run, evaluator, limit=first)
            self._is_last_list = len(self._parts) < LISTED_PARTS
            # Outputs may have been added since the first part was laid out.
            self._sized = sizes(run, asks_together=evaluator.asks_together)
        part = self._parts.pop(0) if self._parts else None
        added = add_part(run.pk, part) if part else 0
        # Last, as others wait for this row.
        still = of_run.filter(self._during)
        run = still.select_for_update(of=("self",)).select_related("project").first()
        if run is None:
            # Paused: what is drawn might be drawn anew. Or cancelled, as its project is deleted.
            transaction.set_rollback(True)
            return False
        is_over = self._is_last_list and not self._parts
        run.parameters |= self._sized | {"items": run.item_count + added}
        if run.state == RunState.PREPARING:
            run.preparer_until = None if is_over else timezone.now() + PREPARE_LEASE
            if is_over:
                run.state, run.started_at = RunState.RUNNING, timezone.now()
                run.parameters |= {MORE_TO_LAY_OUT: True} if part and part.size == first else {}
        elif is_over:
            del run.parameters[MORE_TO_LAY_OUT]
        run.save(update_fields=["state", "started_at", "parameters", "preparer_until"])
        self._note_added(run, added, is_over)
        return not is_over

    def _note_added(self, run: EvaluationRun, added: int, is_over: bool) -> None:
        self.laid_out += added
        if run.state == RunState.RUNNING:
            transaction.on_commit(functools.partial(wake_for_runs, run.project.slug))
        if is_over or self.laid_out >= 2 * self._analyzed:
            # After waking workers, so that they begin meanwhile.
            new = self.laid_out - self._analyzed
            refresh_after_commit(["evaluations_runitem"], added=new)
            self._analyzed = self.laid_out
        if is_over:
            close_if_finished(run.pk)


def _is_alone(run_id: int) -> bool:
    """Whether no other worker lays out the run, until the transaction ends."""
    # Do not lock the run's row: workers count their calls in it, and pausing must not wait.
    return bool(fetch_value("SELECT pg_try_advisory_xact_lock(%s, %s)", [_LOCK, run_id % 2**31]))


def _freeze_prompts(run: EvaluationRun, evaluator: Evaluator) -> None:
    for entry in run.run_criteria.select_related("criterion"):
        entry.steps, entry.template = current_prompt(
            evaluator, entry.criterion, use_steps=run.frozen.use_steps
        )
        entry.save(update_fields=["steps", "template"])


def sizes(run: EvaluationRun, *, asks_together: bool) -> dict[str, Any]:
    """Return the sizes of a run's prompts: `characters_each` (the mean), and `most_each`, the
    highest possible cost of an item.

    `most_each` includes every retry of an unreadable reply; a budget reserves it for each item in
    progress. If criteria are judged together, it is the cost of the call about all of them.
    """
    mean, longest = fetch_row(
        # The length of a document is computed once, not for each of its outputs.
        """SELECT coalesce(sum(o.number * d.characters + o.characters) / sum(o.number), 0),
                  coalesce(max(d.bytes + o.bytes), 0)
           FROM (SELECT id, length(source) + length(context) AS characters,
                        octet_length(source) + octet_length(context)
                            + octet_length(coalesce("references" ->> 0, '')) AS bytes
                 FROM evaluations_document WHERE project_id = %s OFFSET 0) AS d
           JOIN LATERAL (SELECT count(*) AS number, sum(length(text)) AS characters,
                                max(octet_length(text)) AS bytes
                         FROM evaluations_candidateoutput WHERE document_id = d.id) AS o
               ON o.number > 0""",
        [run.project_id],
    )
    templates = [longest_filled(entry.template) for entry in run.run_criteria.all()]
    if asks_together:
        templates = [sum(templates)]
    frozen = run.frozen
    # The prompt is charged for each call that an item's replies are split into.
    calls = frozen.fit.calls_for(frozen.replies_each)
    most = cost(
        calls * most_tokens(int(longest) + max(templates, default=0)),
        frozen.replies_each * frozen.max_tokens,
        frozen.prices,
    )
    return {
        "characters_each": int(mean) + (sum(templates) // len(templates) if templates else 0),
        "most_each": None if most is None else str(read_attempts(frozen.request_settings) * most),
    }


def close_if_finished(run_id: int) -> bool:
    """Mark a running run as done if no item is open or still to be laid out, or as failed if all
    items failed. Return True for the single call that did it.

    If prompts were longer than the model's context, the run is paused instead until a person
    decides: resuming leaves these items out, retrying asks again.
    """
    # Close and announce in one transaction, so that neither happens without the other.
    with transaction.atomic():
        count = execute_sql(
            """UPDATE evaluations_evaluationrun r
                SET finished_at = now(), state = f.state, message = f.message
               FROM (SELECT CASE WHEN count(*) > 0 THEN 'paused'
                                WHEN %(may_fail)s AND EXISTS (
                                    SELECT FROM evaluations_runitem
                                    WHERE run_id = %(run)s AND state = 'failed')
                                AND NOT EXISTS (
                                    SELECT FROM evaluations_runitem
                                    WHERE run_id = %(run)s AND state = 'done') THEN 'failed'
                                ELSE 'done' END AS state,
                            CASE WHEN count(*) > 0 THEN format(%(too_long)s, count(*), min(detail))
                                ELSE '' END
                                AS message
                     FROM evaluations_runitem
                     WHERE run_id = %(run)s AND state = 'failed' AND reason = %(reason)s
                         AND NOT %(accepted)s) f
               WHERE r.id = %(run)s AND r.state = 'running'
                   AND NOT r.parameters ? %(more)s AND NOT EXISTS (
                   SELECT FROM evaluations_runitem
                   WHERE run_id = %(run)s AND state IN ('pending', 'leased', 'sent'))""",
            {
                "run": run_id,
                "reason": Reason.CONTEXT,
                "more": MORE_TO_LAY_OUT,
                "too_long": TOO_LONG,
                "may_fail": EvaluationRun.objects.counting().filter(pk=run_id).exists(),
                "accepted": (
                    EvaluationRun.objects.filter(
                        pk=run_id, parameters__leaves_out_too_long=True
                    ).exists()
                ),
            },
        )
        closed = bool(count == 1)
        if closed:
            run = EvaluationRun.objects.get(pk=run_id)
            if run.state == RunState.FAILED:
                run.message = _all_failed(run)
                run.save(update_fields=["message"])
            if run.state != RunState.PAUSED:
                announce_run(run_id)
            _log_closed(run)
        return closed


def _all_failed(run: EvaluationRun) -> str:
    """Return a message saying why no item of a run has a score."""
    reasons = run.items.failures_by_reason()
    first, total = reasons[0], sum(row["count"] for row in reasons)
    reason = Reason(first["reason"]) if first["reason"] in set(Reason) else Reason.UNFORESEEN
    alike = "" if first["count"] == total else f", {first['count']} of them for one reason"
    items = f"All {total} items" if total > 1 else "The only item"
    return f"{items} failed{alike}: {reason.explanation} Fix the cause, then retry."


def _log_closed(run: EvaluationRun) -> None:
    if run.search_id is not None and run.state == RunState.DONE:
        return
    failed = {row["reason"]: row["count"] for row in run.items.failures_by_reason()}
    events = {RunState.DONE: "run finished", RunState.FAILED: "run failed"}
    log_on_commit(
        events.get(RunState(run.state), "run paused"),
        ids_of(run.pk),
        message=_opening(run.message),
        done=run.items_by_state()[ItemState.DONE],
        failed=failed,
    )
