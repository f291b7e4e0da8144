"""Start a run: the request, reasons to refuse it, and its row with all that is needed to repeat
it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.db.models import Q

from annotations.models import Preference
from evaluations.judging.judges.clients import known_fit
from evaluations.judging.judges.criteria import prompt_parts
from evaluations.judging.runs.lifecycle import (
    RunError,
    check_limits,
    evaluator_for,
    ids_of,
    log_on_commit,
)
from evaluations.models import (
    Criterion,
    EvaluationRun,
    Judge,
    Project,
    RunCriterion,
    Search,
    Transport,
)
from evaluations.models.criteria import with_items_of
from evaluations.people.limits import limits_money
from evaluations.people.waking import wake_for_runs
from geval.evaluators.base import Evaluator, Text
from geval.llm.judge_settings import JudgeSettings
from geval.llm.request_options import why_refused
from geval.llm.run_parameters import RunParameters
from geval.statistics.locked_rule import have_groups
from geval_site.version import __version__


@dataclass(frozen=True)
class SearchAttempt:
    """A search's attempt: a judge with other settings, on some outputs (by their ids).

    `settings` are the evaluator's; `changes` override fields of `RunParameters`.
    """

    search: Search
    settings: Mapping[str, Any]
    outputs: Sequence[int]
    changes: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class StudyRequest:
    """What a study of a judge asks: its kind, and the outputs (by their ids) to ask about without
    using stored replies.

    `perturbed` names a perturbation of the question (evaluators/perturbing.py); `changes` override
    fields of `RunParameters`.
    """

    purpose: str
    outputs: Sequence[int]
    perturbed: str = ""
    changes: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class RunRequest:
    """What a run should do, besides judging everything that its judge has not scored.

    Attributes:
        fresh: judge everything again, without stored replies.
        budget: in the currency of the judge's prices; the run pauses before it costs more.
        transport: call by call, or through the endpoint's batch API.
        attempt: the settings and outputs of a search's attempt; by default the judge's own, on all
            outputs.
        study: the study's request; its scores count nowhere else.
        pilot: number of documents, drawn at random (layout.py); 0 for all.
        trial: number of items, drawn at random; 0 for all.
        rest_of: the id of a pilot or trial whose items are excluded.
        goal_width: the run ends when rho is known within plus or minus this on its criteria.
        goal_rival: the run ends when it is clear which judge agrees better with people, its own or
            this one.
    """

    fresh: bool = False
    budget: Decimal | None = None
    transport: str = Transport.LIVE
    attempt: SearchAttempt | None = None
    study: StudyRequest | None = None
    pilot: int = 0
    trial: int = 0
    rest_of: int = 0
    goal_width: float | None = None
    goal_rival: Judge | None = None

    @property
    def has_goal(self) -> bool:
        return self.goal_width is not None or self.goal_rival is not None


ALL_THAT_IS_MISSING = RunRequest()


@transaction.atomic
def start_run(
    judge: Judge, criteria: Sequence[Criterion], request: RunRequest = ALL_THAT_IS_MISSING
) -> EvaluationRun:
    """Create a run of a judge on criteria, in place of rubrics on their items; workers are woken
    when the transaction commits.

    Raises:
        RunError: nothing to judge, a judge that cannot run, a judge that is already running on
            them, a budget without prices, or a limit that is reached.
        PromptError: a criterion's prompt cannot be sent.
    """
    # Serialise requests for one judge, so that the second sees the first's run.
    Judge.objects.select_for_update().get(pk=judge.pk)
    if not judge.can_run:
        raise RunError(f"{judge} has imported scores and cannot be run. Choose another judge.")
    criteria = with_items_of(criteria)
    attempt, study = request.attempt, request.study
    changed = study.changes.get("settings") if study else None
    evaluator = evaluator_for(judge, attempt.settings if attempt else changed)
    for refusal in _refusals(judge, evaluator, criteria, request):
        raise RunError(refusal)
    run = EvaluationRun.objects.create(
        project=judge.project,
        judge=judge,
        parameters=run_parameters(judge, request).as_json(),
        search=attempt.search if attempt else None,
        purpose=study.purpose if study else "",
        software_version=__version__,
        budget=request.budget,
        goal_width=request.goal_width,
        goal_rival=request.goal_rival,
        transport=request.transport,
    )
    for criterion in criteria if evaluator.per_criterion else ():
        # Compose each prompt once without steps, to refuse a bad placeholder before anything is
        # paid.
        RunCriterion.objects.create(
            run=run, criterion=criterion, template=evaluator.template(prompt_parts(criterion))
        )
    transaction.on_commit(lambda: wake_for_runs(run.project.slug))
    if attempt is None:  # a search has a hundred runs
        log_on_commit(
            "run started",
            ids_of(run.pk),
            transport=str(request.transport),
            criteria=len(criteria),
            fresh=request.fresh,
            pilot=request.pilot,
            trial=request.trial,
            purpose=run.purpose,
        )
    return run


def _refusals(
    judge: Judge, evaluator: Evaluator, criteria: Sequence[Criterion], request: RunRequest
) -> Iterator[str]:
    """Yield the reasons to refuse a run, cheapest check first; each says what to do."""
    if judge.retired_at or (judge.endpoint and judge.endpoint.retired_at):
        yield f"{judge} or its endpoint is retired; restore it, or choose another judge."
    if refusal := why_refused(judge.request_options):
        yield refusal
    if evaluator.per_criterion and not criteria:
        yield "There is no criterion to judge on; add one or name one."
    if request.attempt is None:
        check_limits(judge.project)
    if not (request.attempt or request.study):
        yield from _busy_with(judge)
    if request.budget is not None and (judge.price_in is None or judge.price_out is None):
        yield f"A budget needs prices: give {judge} its prices for a million tokens in and out."
    yield from _wrong_goals(judge, request)
    if request.transport == Transport.BATCH:
        yield from _nothing_stops_batches(judge, evaluator, request)
    if missing := find_missing_texts(judge.project, evaluator, criteria):
        yield missing


def _busy_with(judge: Judge) -> Iterator[str]:
    if busy := judge.runs.active().counting().first():
        yield f"Run {busy.pk} of {judge} is still running; wait for it to finish or pause it."


def _wrong_goals(judge: Judge, request: RunRequest) -> Iterator[str]:
    rival = request.goal_rival
    if request.goal_width is not None and rival is not None:
        yield "A run ends at one goal: choose a width, or another judge to compare with."
    if rival is not None and (rival == judge or rival.project_id != judge.project_id):
        yield f"{rival} is not another judge of this project; choose one that is."
    if request.has_goal and have_groups(*judge.project.documents.drawn_as()[1:]):
        yield (
            "The documents come in groups, of which each new document tells little: a run over them"
            " cannot end by itself. Judge them all, and read the report's interval."
        )


def _nothing_stops_batches(
    judge: Judge, evaluator: Evaluator, request: RunRequest
) -> Iterator[str]:
    if request.budget is not None:
        yield "A budget cannot stop a batch that has been sent; use only one of the two."
    if request.has_goal:
        yield (
            "A goal cannot stop a batch that has been sent. Send call by call, or judge without a"
            " goal."
        )
    if request.trial:
        yield (
            "A trial is sent call by call, so that its replies come at once; send the rest in"
            " batches."
        )
    if limits_money(judge.project):
        yield (
            "What this project spends in a month is limited, and no limit can stop a batch that"
            " has been sent; choose call by call."
        )
    if not evaluator.takes_batches:
        yield f"{evaluator.title} cannot be sent in batches; it is asked call by call."


def find_missing_texts(
    project: Project, evaluator: Evaluator, criteria: Sequence[Criterion]
) -> str:
    """Return why a run would have no items (texts or pairs that no document has), or an empty
    text."""
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


def run_parameters(judge: Judge, request: RunRequest) -> RunParameters:
    """Return all that is needed to repeat the run, except its prompts."""
    endpoint = judge.endpoint
    declared = {name: getattr(judge, name) for name in JudgeSettings.model_fields}
    parameters = RunParameters(
        kind=judge.kind,
        settings=judge.settings,
        base_url=endpoint.base_url if endpoint else "",
        api_version=endpoint.api_version if endpoint else "",
        model=judge.model,
        length_parameter=judge.length_parameter,
        transport=str(request.transport),
        fresh=request.fresh,
        fit=known_fit(endpoint, judge.model, judge.request_options).fit,
        pilot=request.pilot,
        trial=request.trial,
        rest_of=request.rest_of,
        **declared | {"temperature": judge.temperature if judge.sends_temperature else None},
    )
    return _with_study(_with_attempt(parameters, request.attempt), request.study)


def start_remainder(pilot: EvaluationRun, *, budget: Decimal | None = None) -> EvaluationRun:
    """Start a run on the items that a pilot or a trial left out: same judge, criteria and
    transport.

    Raises:
        RunError, PromptError: as `start_run`, or the run is neither.
    """
    frozen = pilot.frozen
    if not frozen.is_part:
        raise RunError(f"Run {pilot.pk} judged all outputs, so nothing is left. Start a new run.")
    request = RunRequest(
        fresh=frozen.fresh, budget=budget, transport=pilot.transport, rest_of=pilot.pk
    )
    return start_run(pilot.judge, pilot.judged_criteria(), request)


def remainder_run(pilot: EvaluationRun) -> EvaluationRun | None:
    """Return the run on what a pilot or a trial left out, if there is one."""
    if not pilot.frozen.is_part:
        return None
    return EvaluationRun.objects.filter(
        project=pilot.project_id, parameters__rest_of=pilot.pk
    ).first()


def _with_attempt(parameters: RunParameters, attempt: SearchAttempt | None) -> RunParameters:
    if attempt is None:
        return parameters
    return replace(
        parameters,
        settings=dict(attempt.settings),
        outputs=tuple(attempt.outputs),
        **attempt.changes,
    )


def _with_study(parameters: RunParameters, study: StudyRequest | None) -> RunParameters:
    if study is None:
        return parameters
    return replace(
        parameters,
        fresh=True,
        outputs=tuple(study.outputs),
        perturbed=study.perturbed,
        **study.changes,
    )
