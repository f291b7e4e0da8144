"""Estimate the calls and cost of a study before it is started."""

from copy import copy
from dataclasses import dataclass
from decimal import Decimal

from assurance.instrument.studies import PARTS, USUAL, criteria_asked
from evaluations.judging.runs.estimate import RunEstimate, estimate_run
from evaluations.judging.runs.lifecycle import RunError
from evaluations.models import CandidateOutput, Criterion, Judge, ScoringMode, StudyKind, Transport
from geval.llm.prompts import PromptError

# Sample size: prompts about this many outputs represent all of them.
LOOKED_AT = 40


@dataclass(frozen=True)
class StudyEstimate:
    """An upper bound: `calls` about `items` outputs, each asked about `times` times, and their cost
    in the currency of the judge's prices (None without prices)."""

    items: int
    times: int
    calls: int
    cost: Decimal | None


def estimate_study(
    judge: Judge,
    criterion: Criterion,
    kind: str,
    *,
    items: int | None = None,
    replies: int | None = None,
) -> StudyEstimate | None:
    """Estimate a study of a judge on a criterion; None if it cannot be run at all.

    Args:
        items, replies: as for `make_study`; by default the usual numbers.
    """
    usual_items, usual_replies = USUAL[StudyKind(kind)]
    items = items or usual_items
    times = len(PARTS.get(StudyKind(kind), ())) or replies or usual_replies
    asked = copy(judge)
    if kind == StudyKind.AGAIN and judge.mode == ScoringMode.SAMPLES:
        asked.samples = 1
    criteria = criteria_asked(asked, criterion)
    run = _run_on_some(asked, criteria)
    if run is None or not run.items:
        return None

    count = items * times * len(criteria)
    cost = None if run.cost is None else run.cost * count / run.items
    return StudyEstimate(items, times, -(-run.calls * count // run.items), cost)


def _run_on_some(judge: Judge, criteria: list[Criterion]) -> RunEstimate | None:
    outputs = CandidateOutput.objects.of_project(judge.project).order_by("pk")
    some = list(outputs.values_list("pk", flat=True)[:LOOKED_AT])
    try:
        return (
            estimate_run(judge, criteria, fresh=True, transport=Transport.LIVE, outputs=some)
            if some
            else None
        )
    except (PromptError, RunError):
        return None
