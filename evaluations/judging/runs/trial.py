"""Judge a few items before paying for a whole run: a trial estimates its cost and says what to
change; on the playground of a judge's page its prompt may be reworded as well.

Both are runs under the same limits and leases as any other. The scores of a trial count, and the
run on the rest leaves its items out; those of the playground count nowhere.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from django.db import transaction
from django.db.models import Avg

from evaluations.judging.judges.clients import known_findings
from evaluations.judging.judges.judges import change_judge, draft_of
from evaluations.judging.judges.wordings import reworded
from evaluations.judging.runs.estimate import RunEstimate, estimate_run, expected_seconds
from evaluations.judging.runs.lifecycle import RunError, cancel_run, evaluator_for
from evaluations.judging.runs.starting import RunRequest, StudyRequest, start_run
from evaluations.models import (
    CandidateOutput,
    Criterion,
    EvaluationRun,
    ItemState,
    Judge,
    Project,
    RunState,
    ScoringMode,
)
from evaluations.models.improving import withheld_documents
from evaluations.models.runs import PLAYGROUND
from geval.evaluators.llm_evaluator import LlmEvaluator
from geval.llm.advice import Advice, advise
from geval.llm.cost import cost
from geval.llm.parsing import Reason

# A few calls show the price, the time and replies that cannot be read.
TRIAL_ITEMS = 10
# The replies are read side by side.
MOST_PLAYGROUND_ITEMS = 3
# The items are options of a form's list.
MOST_OFFERED = 200


@dataclass(frozen=True)
class Unreadable:
    """The failures of a run: `failed` of `items` finished items failed, `alike` of them for the
    reason that the advice addresses."""

    items: int
    failed: int
    alike: int
    advice: Advice

    @property
    def in_words(self) -> str:
        """Describe how many items failed, why, and what to try."""
        alike = "" if self.alike == self.failed else f", {self.alike} for one reason"
        return f"{self.failed} of {self.items} items failed{alike}: {self.advice.in_words}"


def unreadable(run: EvaluationRun) -> Unreadable | None:
    """Return the failures of a run with advice; None if no item failed."""
    failures = run.items.failures_by_reason()
    if not failures:
        return None
    counts = run.items_by_state()
    failed = counts[ItemState.FAILED]
    reason = failures[0]["reason"]
    known_reason = Reason(reason) if reason in set(Reason) else Reason.UNFORESEEN
    advice = advise(known_reason, run.frozen.request_settings, _modes(run))
    return Unreadable(counts[ItemState.DONE] + failed, failed, failures[0]["count"], advice)


def estimate_rest(trial: EvaluationRun) -> RunEstimate:
    """Estimate the rest of a run from a trial's replies; without replies, like `estimate_run`.

    Raises:
        RunError, PromptError: as `estimate_run`.
    """
    estimate = estimate_run(
        trial.judge, trial.judged_criteria(), fresh=trial.frozen.fresh, transport=trial.transport
    )
    seen = trial.items.exclude(reply=None).aggregate(
        calls=Avg("reply__calls"),
        tokens_in=Avg("reply__prompt_tokens"),
        tokens_out=Avg("reply__completion_tokens"),
        seconds=Avg("reply__seconds"),
    )
    if seen["calls"] is None or not estimate.items:
        return estimate
    calls, tokens_in, tokens_out = (
        round(estimate.items * seen[name]) for name in ("calls", "tokens_in", "tokens_out")
    )
    frozen = trial.frozen
    # A local server queues calls, so assume that the trial's calls in flight are all that it can
    # process at once.
    seconds = expected_seconds(
        trial.judge,
        frozen,
        items=estimate.items,
        calls=calls,
        tokens=tokens_in + tokens_out,
        seconds_a_call=seen["seconds"] / seen["calls"],
        in_flight=TRIAL_ITEMS,
    )
    return replace(
        estimate,
        calls=calls,
        prompt_tokens=tokens_in,
        completion_tokens=tokens_out,
        cost=cost(tokens_in, tokens_out, frozen.prices),
        seconds=seconds,
    )


def change_and_try(run: EvaluationRun, key: str) -> EvaluationRun:
    """Change the judge of a run as advised, and try its new version on a few items.

    A paused run is cancelled, because its judge is replaced.

    Args:
        key: key of a change in the advice of `unreadable`.

    Raises:
        RunError: the change is not (or no longer) advised, or as `start_run`.
        ValidationError: as `change_judge`.
        PromptError: as `start_run`.
    """
    failing = unreadable(run)
    changes = {change.key: change for change in (failing.advice.changes if failing else ())}
    if key not in changes:
        advised = f" Advised: {', '.join(changes)}." if changes else ""
        raise RunError(
            f"This change of {run.judge} is not advised for run {run.pk}.{advised} Edit the judge"
            " to change anything else."
        )
    change = changes[key]
    if run.judge.retired_at:
        raise RunError(f"{run.judge} is retired. Try its newest version.")
    draft = draft_of(run.judge).changed(**change.settings)
    # The endpoint has answered this judge, so no probe is required; existing findings are used.
    judge = change_judge(run.judge, draft, probe=False)
    with transaction.atomic():
        trial = start_run(
            judge, run.judged_criteria(), RunRequest(fresh=run.frozen.fresh, trial=TRIAL_ITEMS)
        )
        if run.state == RunState.PAUSED:
            cancel_run(run.pk, f"Replaced by run {trial.pk} of {judge}.")
    return trial


def _modes(run: EvaluationRun) -> Sequence[str]:
    """Return the scoring modes that the run's endpoint and criteria allow."""
    judge = run.judge
    evaluator = evaluator_for(judge)
    if not isinstance(evaluator, LlmEvaluator) or not evaluator.chats or judge.endpoint is None:
        return ()
    findings = known_findings(judge.endpoint, judge.model, judge.request_options)
    scales = [criterion.scale for criterion in run.judged_criteria()]
    return [
        mode
        for mode in ScoringMode.values
        if not (findings and findings.why_not(mode))
        and not any(evaluator.why_not_on(scale, mode) for scale in scales)
    ]


def can_try(judge: Judge) -> bool:
    """Whether a judge rates one output at a time by asking a model, and may be run."""
    evaluator = judge.evaluator
    if evaluator is None or not issubclass(evaluator, LlmEvaluator) or evaluator.compares_pairs:
        return False
    return judge.retired_at is None and judge.endpoint is not None and not judge.endpoint.retired_at


def offered_outputs(project: Project) -> list[tuple[int, str, str]]:
    """Return the first outputs of a project: id, document and system.

    Locked documents are excluded until the last test: changes made here are tested on them.
    """
    outputs = CandidateOutput.objects.of_project(project).exclude(
        document__in=withheld_documents(project.pk)
    )
    named = outputs.values_list("pk", "document__doc_id", "system__name")
    return list(named.order_by("document_id", "pk")[:MOST_OFFERED])


def latest_playground_run(judge: Judge) -> EvaluationRun | None:
    """Return the last playground run of a judge."""
    return judge.runs.filter(purpose=PLAYGROUND).order_by("-pk").first()


def try_items(
    judge: Judge, criterion: Criterion, outputs: Sequence[int], texts: Mapping[str, str]
) -> EvaluationRun:
    """Judge a few outputs (by their ids) on a criterion.

    Args:
        texts: the parts of the prompt as `wording_texts` gives them, changed or not.

    Raises:
        RunError: an output is not offered, there are too many, or as `start_run`.
        PromptError: as `start_run`.
    """
    offered = {pk for pk, *_names in offered_outputs(judge.project)}
    if not outputs or len(outputs) > MOST_PLAYGROUND_ITEMS or not set(outputs) <= offered:
        raise RunError(f"Choose one to {MOST_PLAYGROUND_ITEMS} of the items that are offered.")
    settings = reworded(judge, criterion, texts)
    study = StudyRequest(purpose=PLAYGROUND, outputs=outputs, changes={"settings": settings})
    return start_run(judge, [criterion], RunRequest(study=study))
