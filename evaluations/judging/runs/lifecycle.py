"""A run from start to end: made with its criteria, prepared (steps written, prompts frozen, items
laid out), closed."""

import datetime
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

import structlog
from django.db import connection, transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from annotations.models import Preference
from evaluations.judging.judges.findings import known_fit
from evaluations.judging.judges.steps import prompt_parts, steps_request
from evaluations.judging.runs.layout import lay_out_items
from evaluations.models import (
    Criterion,
    EvaluationRun,
    EvaluationSteps,
    ItemState,
    Judge,
    Project,
    RunCriterion,
    RunState,
    Search,
    Transport,
)
from evaluations.models.run_parameters import RunParameters
from evaluations.models.table_statistics import refresh_after_commit
from evaluations.people.limits import LimitError, check_start, limits_money
from evaluations.people.waking import wake_for_runs
from evaluations.webhooks.announcing import announce_run
from geval.evaluators.base import Evaluator, EvaluatorError, SettingsError, Text
from geval.evaluators.judge_settings import JudgeSettings
from geval.evaluators.registry import make_evaluator
from geval.llm.cost import cost, most_tokens
from geval.llm.judgement import read_attempts
from geval.llm.parsing import Reason
from geval.llm.prompt_examples import longest_filled
from geval.llm.prompts import needs_steps
from geval.llm.requests import ChatRequest
from geval.texts.plain import storable
from geval_site.version import __version__

TOO_LONG = (
    "%s items are longer than the model's context, such as: %s All others are judged. Go on to"
    " leave them out, or retry them with a model that takes longer prompts."
)
QUOTES = re.compile(r": | \(|[“\"]|, such as| redirects to | does not know ")
log = structlog.stdlib.get_logger(__name__)
PREPARE_LEASE = datetime.timedelta(minutes=5)
# Workers that were lost while they prepared a run, before it counts as the cause.
MOST_PREPARATIONS = 3
PREPARATION_LOST = (
    f"{MOST_PREPARATIONS} workers ended while they prepared this run. Look at their logs, then"
    " resume the run."
)


# How the message of a run begins that was paused by its budget.
BUDGET_REACHED = "The budget of"


class RunError(ValueError):
    """A run that cannot be started; the message says why and what to do."""


@dataclass(frozen=True)
class Attempt:
    """What a search tries: a judge with other settings, on some outputs (by their ids).

    `settings` are its evaluator's, `changes` those of `RunParameters` that are others.
    """

    search: Search
    settings: Mapping[str, Any]
    outputs: Sequence[int]
    changes: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Apart:
    """What a study of a judge asks: its kind, on some outputs (by their ids), past what is stored.

    `perturbed` names a change of what is asked (evaluators/perturbing.py), `changes` are the
    settings of `RunParameters` that are others.
    """

    purpose: str
    outputs: Sequence[int]
    perturbed: str = ""
    changes: Mapping[str, Any] = field(default_factory=dict)


@transaction.atomic
def start_run(
    judge: Judge,
    criteria: Sequence[Criterion],
    *,
    fresh: bool = False,
    budget: Decimal | None = None,
    transport: str = Transport.LIVE,
    attempt: Attempt | None = None,
    apart: Apart | None = None,
    pilot: int = 0,
    trial: int = 0,
    rest_of: int = 0,
    goal_width: float | None = None,
    goal_rival: Judge | None = None,
) -> EvaluationRun:
    """Make a run of a judge on criteria; workers are woken when the transaction ends.

    Args:
        fresh: judge everything again and ask again, where otherwise only missing scores are filled.
        budget: in the currency of the judge's prices; the run pauses before it costs more.
        transport: call by call, or through the endpoint's batch API.
        attempt: what a search tries with the judge; by default it is what it is, on all outputs.
        apart: what a study asks; its scores count nowhere else.
        pilot: on how many documents only, drawn at random (pilot.py); 0 for all.
        trial: on how many items only, drawn at random; 0 for all.
        rest_of: the id of a pilot or trial, whose items are left out.
        goal_width: the run ends when rho is known within plus or minus this on its criteria.
        goal_rival: it ends when it is known whether this other judge agrees better with people.

    Raises:
        RunError: nothing to judge, a judge that cannot run, one that is at it already, a budget
            without prices, or a limit that is reached.
        PromptError: a criterion's prompt cannot be sent.
    """
    Judge.objects.select_for_update().get(pk=judge.pk)
    if not judge.can_run:
        raise RunError(f"{judge} has imported scores and cannot be run. Choose another judge.")
    evaluator = evaluator_for(judge, attempt.settings if attempt else None)
    if judge.retired_at or (judge.endpoint and judge.endpoint.retired_at):
        raise RunError(f"{judge} or its endpoint is retired; restore it, or choose another judge.")
    if evaluator.per_criterion and not criteria:
        raise RunError("There is no criterion to judge on; add one or name one.")
    if attempt is None:
        check_limits(judge.project)
    busy = None if attempt or apart else judge.runs.active().counting().first()
    if busy:
        raise RunError(
            f"Run {busy.pk} of {judge} is still running; wait for it to finish or pause it."
        )
    if budget is not None and (judge.price_in is None or judge.price_out is None):
        raise RunError(
            f"A budget needs prices: give {judge} its prices for a million tokens in and out."
        )
    if budget is not None and transport == Transport.BATCH:
        raise RunError("A budget cannot stop a batch that has been sent; use only one of the two.")
    if goal_width is not None and goal_rival is not None:
        raise RunError("A run ends at one goal: choose a width, or another judge to compare with.")
    if goal_rival is not None and (
        goal_rival == judge or goal_rival.project_id != judge.project_id
    ):
        raise RunError(f"{goal_rival} is not another judge of this project; choose one that is.")
    if (goal_width or goal_rival) and transport == Transport.BATCH:
        raise RunError(
            "A goal cannot stop a batch that has been sent. Send call by call, or judge without a"
            " goal."
        )
    if trial and transport == Transport.BATCH:
        raise RunError("A trial is sent call by call, so that its replies come at once; send the"
                       " rest in batches.")  # fmt: skip
    if transport == Transport.BATCH and limits_money(judge.project):
        raise RunError(
            "What this project spends in a month is limited, and no limit can stop a batch that"
            " has been sent; choose call by call."
        )
    if transport == Transport.BATCH and not evaluator.takes_batches:
        raise RunError(f"{evaluator.title} cannot be sent in batches; it is asked call by call.")
    problem = what_is_missing(judge.project, evaluator, criteria)
    if problem:
        raise RunError(problem)
    run = EvaluationRun.objects.create(
        project=judge.project,
        judge=judge,
        parameters=replace(
            _set_apart(
                _tried(run_parameters(judge, fresh=fresh, transport=transport), attempt), apart
            ),
            pilot=pilot,
            trial=trial,
            rest_of=rest_of,
        ).as_json(),
        search=attempt.search if attempt else None,
        purpose=apart.purpose if apart else "",
        software_version=__version__,
        budget=budget,
        goal_width=goal_width,
        goal_rival=goal_rival,
        transport=transport,
    )
    for criterion in criteria if evaluator.per_criterion else ():
        # Composed once without steps, so that a bad placeholder is refused before anything is paid.
        RunCriterion.objects.create(
            run=run, criterion=criterion, template=evaluator.template(prompt_parts(criterion))
        )
    transaction.on_commit(lambda: wake_for_runs(run.project.slug))
    if attempt is None:  # a search has a hundred
        _log_on_commit(
            "run started",
            ids_of(run.pk),
            transport=str(transport),
            criteria=len(criteria),
            fresh=fresh,
            pilot=pilot,
            trial=trial,
            purpose=apart.purpose if apart else "",
        )
    return run


def check_limits(project: Project) -> None:
    """Refuse a run that the project or its owner has no room for.

    Raises:
        RunError: it has none; the message says of what, and what to do.
    """
    try:
        check_start(project)
    except LimitError as error:
        raise RunError(str(error)) from None


def start_rest(pilot: EvaluationRun, *, budget: Decimal | None = None) -> EvaluationRun:
    """Start a run on what a pilot or a trial left out: same judge, criteria, and way to send.

    Raises:
        RunError, PromptError: as `start_run`, and for a run that is neither.
    """
    frozen = pilot.frozen
    if not frozen.is_part:
        raise RunError(f"Run {pilot.pk} judged all outputs, so nothing is left. Start a new run.")
    return start_run(
        pilot.judge,
        pilot.judged_criteria(),
        fresh=frozen.fresh,
        budget=budget,
        transport=pilot.transport,
        rest_of=pilot.pk,
    )


def rest_of(pilot: EvaluationRun) -> EvaluationRun | None:
    """The run on what a pilot or a trial left out, if there is one."""
    if not pilot.frozen.is_part:
        return None
    return EvaluationRun.objects.filter(
        project=pilot.project_id, parameters__rest_of=pilot.pk
    ).first()


def _tried(parameters: RunParameters, attempt: Attempt | None) -> RunParameters:
    if attempt is None:
        return parameters
    return replace(
        parameters,
        settings=dict(attempt.settings),
        outputs=tuple(attempt.outputs),
        **attempt.changes,
    )


def _set_apart(parameters: RunParameters, apart: Apart | None) -> RunParameters:
    if apart is None:
        return parameters
    return replace(
        parameters,
        fresh=True,
        outputs=tuple(apart.outputs),
        perturbed=apart.perturbed,
        **apart.changes,
    )


def ids_of(run_id: int) -> dict[str, Any]:
    """The ids of a run for the log."""
    found = EvaluationRun.objects.filter(pk=run_id).values_list("project__slug", "judge_id").first()
    project, judge = found or (None, None)
    return {"run": run_id, "project": project, "judge": judge}


def _log_on_commit(event: str, ids: dict[str, Any], **more: Any) -> None:
    """Log what happened once it cannot be undone."""
    transaction.on_commit(lambda: log.info(event, **ids, **more))


def _opening(message: str) -> str:
    """The first words of a message, which are ours: behind them it may quote a server or a text."""
    return QUOTES.split(message, maxsplit=1)[0].rstrip(".")


def evaluator_of(run: EvaluationRun) -> tuple[str, dict[str, Any]]:
    """The kind and settings that a run was started with, whatever became of its judge."""
    frozen = run.frozen
    return frozen.kind or run.judge.kind, dict(frozen.settings)


def evaluator_for(judge: Judge, settings: Mapping[str, Any] | None = None) -> Evaluator:
    """A judge's evaluator, with its own settings unless others are given.

    Raises:
        RunError: its package is gone, or does not take the judge's settings any more.
    """
    try:
        return make_evaluator(judge.kind, judge.settings if settings is None else settings)
    except (EvaluatorError, SettingsError) as error:
        raise RunError(str(error)) from None


def what_is_missing(project: Project, evaluator: Evaluator, criteria: Sequence[Criterion]) -> str:
    """Why a run would find nothing to do: texts or pairs that no document has; empty if it
    would."""
    documents = project.documents
    empty: dict[Text, bool] = {
        "references": not documents.exclude(references=[]).exists(),
        "context": not documents.exclude(context="").exists(),
        "source": not documents.exclude(source="").exists(),
    }
    lacking = [name for name in sorted(evaluator.needed()) if empty[name]]
    if lacking:
        return (
            f"{evaluator.title} needs the {lacking[0]} of a document, and no document of this"
            " project has one."
        )
    if evaluator.only_pairs_people_compared:
        comparable = Q(criterion=None) | Q(criterion__in=criteria)
        if not Preference.objects.filter(comparable, annotator__project=project).exists():
            return (
                "Nobody has compared two outputs on these criteria; set the judge's pairs to “all”."
            )
    return ""


@transaction.atomic
def resume_run(
    run: EvaluationRun,
    *,
    retry_failed: bool = False,
    reason: str = "",
    budget: Decimal | None = None,
    only_due: bool = False,
) -> bool:
    """Resume a paused run, or retry a finished run's failed items; False if there is nothing to
    resume.

    Args:
        reason: try only the items again that failed for this reason.
        budget: a new one, for a run that was paused by its budget.
        only_due: only a run that resumes by itself, and is due; somebody may just have paused it.

    Raises:
        RunError: the project or its owner has no room for it.
    """
    run = EvaluationRun.objects.select_for_update().get(pk=run.pk)
    if only_due and not EvaluationRun.objects.due().filter(pk=run.pk).exists():
        return False
    if run.is_active or run.state == RunState.CANCELLED:
        return False
    if not only_due and run.search_id is None:
        check_limits(run.project)
    if retry_failed:
        failed = run.items.filter(state=ItemState.FAILED)
        if reason:
            failed = failed.filter(reason=reason)
        failed.update(state=ItemState.PENDING, reason="", detail="", attempts=0)
    prepared = run.started_at is not None
    ids = ids_of(run.pk)
    if prepared and not run.items.open().exists():
        if run.state != RunState.PAUSED:
            return False
        EvaluationRun.objects.filter(pk=run.pk).update(
            state=RunState.RUNNING,
            message="",
            resumes_at=None,
            resumed_at=timezone.now(),
            parameters=run.parameters | {"leaves_out_too_long": True},
        )
        _log_on_commit("run resumed", ids)
        return close_if_finished(run.pk)
    run.state = RunState.RUNNING if prepared else RunState.PREPARING
    run.message, run.finished_at, run.preparer_until, run.preparations = "", None, None, 0
    run.resumes_at, run.resumed_at = None, timezone.now()
    if not only_due:
        run.outage_since = None  # somebody may have fixed the endpoint
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
    _log_on_commit("run resumed", ids, retries_failed=retry_failed, by_itself=only_due)
    return True


def pause_run(run_id: int, message: str, *, resumes_at: datetime.datetime | None = None) -> bool:
    """Pause a run with the reason; True if it was running.

    Args:
        resumes_at: when it resumes by itself (resuming.py); None for a run that waits for somebody.
    """
    return _pause(EvaluationRun.objects.active(), run_id, message, resumes_at=resumes_at)


def pause_by_person(run_id: int, person: object) -> bool:
    """Pause a run until somebody resumes it, also one that would resume by itself."""
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
        _log_on_commit("run paused", ids, message=_opening(message), resumes_at=resumes_at)
    return paused == 1


def cancel_run(run_id: int, message: str) -> bool:
    """Cancel a run for good; its scores are kept. True if it was running or paused."""
    waiting = EvaluationRun.objects.unfinished().filter(pk=run_id)
    ids, now = ids_of(run_id), timezone.now()
    cancelled = (
        waiting.update(state=RunState.CANCELLED, message=message, finished_at=now, resumes_at=None)
        == 1
    )
    if cancelled:
        _log_on_commit("run cancelled", ids)
    return cancelled


def end_at_goal(run_id: int, message: str) -> bool:
    """End a running run that has found out what it was to find out; what is left is not judged.
    True for the one call that did it."""
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
    """Take the preparing of a run; of several workers one gets it, and another may if that one is
    lost.

    A run that several workers were lost with is paused.

    Returns:
        The claim, with which it is renewed; None if another worker has it.
    """
    waiting = EvaluationRun.objects.unattended().filter(pk=run_id, state=RunState.PREPARING)
    lost = waiting.filter(preparations__gte=MOST_PREPARATIONS)
    if lost.update(state=RunState.PAUSED, message=PREPARATION_LOST):
        _log_on_commit("run paused", ids_of(run_id), message=_opening(PREPARATION_LOST))
        return None
    claimed = waiting.update(
        preparer_until=timezone.now() + PREPARE_LEASE, preparations=F("preparations") + 1
    )
    # The row is ours until the transaction ends.
    return EvaluationRun.objects.get(pk=run_id).preparations if claimed else None


def _preparing(run_id: int, claim: int) -> QuerySet[EvaluationRun]:
    """The run, if it is prepared under this claim."""
    return EvaluationRun.objects.filter(
        pk=run_id, state=RunState.PREPARING, preparations=claim, preparer_until__isnull=False
    )


def renew_preparation(run_id: int, claim: int) -> bool:
    """Keep preparing a run; False if it is not this worker's any more."""
    renewed = _preparing(run_id, claim).update(preparer_until=timezone.now() + PREPARE_LEASE)
    return renewed == 1


def leave_preparation(run_id: int, claim: int) -> None:
    """Leave preparing a run to the next worker; this does not count as a lost worker."""
    _preparing(run_id, claim).update(preparer_until=None, preparations=claim - 1)


def missing_steps(run: EvaluationRun) -> dict[Criterion, ChatRequest]:
    """The requests for evaluation steps that criteria of the run need and do not have."""
    frozen = run.frozen
    evaluator = make_evaluator(*evaluator_of(run))
    if not frozen.use_steps or not evaluator.writes_steps:
        return {}
    criteria = run.judged_criteria()
    return {
        criterion: steps_request(criterion, frozen.request_settings)
        for criterion in criteria
        if needs_steps(prompt_parts(criterion))
        and not evaluator.has_steps(criterion.name)
        and not criterion.steps.exists()
    }


def note_steps(run_id: int, missing: int) -> None:
    """Keep with a run how many steps it has to have written, for `steps_written`."""
    run = EvaluationRun.objects.get(pk=run_id)
    wanted = max(missing, run.parameters.get("steps_wanted", 0))
    EvaluationRun.objects.filter(pk=run_id).update(
        parameters=run.parameters | {"steps_wanted": wanted}
    )


def steps_written(run: EvaluationRun) -> tuple[int, int] | None:
    """How many of the steps that a run lacked are written, and how many it lacked; None for a run
    that is not being prepared, or lacked none."""
    wanted = run.parameters.get("steps_wanted", 0)
    if run.state != RunState.PREPARING or not wanted:
        return None
    return wanted - len(missing_steps(run)), wanted


def prompt_today(
    evaluator: Evaluator, criterion: Criterion, *, use_steps: bool
) -> tuple[EvaluationSteps | None, str]:
    """The prompt that a run would freeze now, with the steps in it."""
    parts = prompt_parts(criterion)
    steps = criterion.newest_steps if use_steps and needs_steps(parts) else None
    return steps, evaluator.template(parts, steps.text if steps else None)


@transaction.atomic
def lay_out_run(run_id: int) -> int:
    """Freeze the prompts, lay out the items, and set the run going; returns the number of items.

    A run that another worker laid out in the meantime is left as it is.
    """
    run = EvaluationRun.objects.select_for_update().select_related("project").get(pk=run_id)
    if run.state != RunState.PREPARING:
        return 0
    evaluator = make_evaluator(*evaluator_of(run))
    for entry in run.run_criteria.select_related("criterion"):
        entry.steps, entry.template = prompt_today(
            evaluator, entry.criterion, use_steps=run.frozen.use_steps
        )
        entry.save(update_fields=["steps", "template"])
    laid_out = lay_out_items(run, evaluator)
    run.state, run.started_at = RunState.RUNNING, timezone.now()
    run.parameters |= sizes(run) | {"items": laid_out}
    run.preparer_until = None
    run.save(update_fields=["state", "started_at", "parameters", "preparer_until"])
    transaction.on_commit(lambda: wake_for_runs(run.project.slug))
    # Afterwards, so that other workers begin meanwhile.
    refresh_after_commit(["evaluations_runitem"], added=laid_out)
    close_if_finished(run_id)
    return laid_out


def sizes(run: EvaluationRun) -> dict[str, Any]:
    """How large a run's prompts are: `characters_each` (the mean), and `most_each`, what the
    largest can cost.

    `most_each` counts every try an unreadable reply gets; it is what a budget sets aside for an
    item in hand.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            """SELECT coalesce(avg(length(d.source) + length(o.text) + length(d.context)), 0),
                      coalesce(max(octet_length(d.source) + octet_length(o.text)
                          + octet_length(d.context)
                                   + octet_length(coalesce(d.references ->> 0, ''))), 0)
               FROM evaluations_document d JOIN evaluations_candidateoutput o
                   ON o.document_id = d.id
               WHERE d.project_id = %s""",
            [run.project_id],
        )
        mean, longest = cursor.fetchone()
    templates = [longest_filled(entry.template) for entry in run.run_criteria.all()]
    frozen = run.frozen
    # The prompt is paid for with each call that an item's replies are split into.
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
    """Mark a running run as done if no item is open any more; True for the one call that did it.

    Where prompts were longer than the model's context the run is paused instead, until somebody has
    seen that: going on leaves them out, retrying asks again.
    """
    # What is announced has happened, and what has happened is announced.
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            """UPDATE evaluations_evaluationrun r
                SET finished_at = now(), state = f.state, message = f.message
               FROM (SELECT CASE WHEN count(*) > 0 THEN 'paused' ELSE 'done' END AS state,
                            CASE WHEN count(*) > 0 THEN format(%(too_long)s, count(*), min(detail))
                                ELSE '' END
                                AS message
                     FROM evaluations_runitem
                     WHERE run_id = %(run)s AND state = 'failed' AND reason = %(reason)s
                         AND NOT %(accepted)s) f
               WHERE r.id = %(run)s AND r.state = 'running' AND NOT EXISTS (
                   SELECT FROM evaluations_runitem
                   WHERE run_id = %(run)s AND state IN ('pending', 'leased', 'sent'))""",
            {
                "run": run_id,
                "reason": Reason.CONTEXT,
                "too_long": TOO_LONG,
                "accepted": (
                    EvaluationRun.objects.filter(
                        pk=run_id, parameters__leaves_out_too_long=True
                    ).exists()
                ),
            },
        )
        closed = bool(cursor.rowcount == 1)
        if closed:
            run = EvaluationRun.objects.get(pk=run_id)
            if run.state == RunState.DONE:
                announce_run(run_id)
            _log_closed(run)
        return closed


def _log_closed(run: EvaluationRun) -> None:
    if run.search_id is not None and run.state == RunState.DONE:
        return
    failed = {row["reason"]: row["count"] for row in run.items.failures_by_reason()}
    _log_on_commit(
        "run finished" if run.state == RunState.DONE else "run paused",
        ids_of(run.pk),
        message=_opening(run.message),
        done=run.items.counts()[ItemState.DONE],
        failed=failed,
    )


def run_parameters(judge: Judge, *, fresh: bool, transport: str) -> RunParameters:
    """All that is needed to repeat the run, beside its prompts."""
    endpoint = judge.endpoint
    declared = {name: getattr(judge, name) for name in JudgeSettings.model_fields}
    return RunParameters(
        kind=judge.kind,
        settings=judge.settings,
        base_url=endpoint.base_url if endpoint else "",
        api_version=endpoint.api_version if endpoint else "",
        model=judge.model,
        length_parameter=judge.length_parameter,
        transport=str(transport),
        fresh=fresh,
        fit=known_fit(endpoint, judge.model).fit,
        **declared | {"temperature": judge.temperature if judge.sends_temperature else None},
    )
