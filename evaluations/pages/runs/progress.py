"""A run's progress: counts, rate, time left, failures by reason, tokens."""

from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal

from django.db.models import Avg, Count, Q
from django.utils import timezone

from evaluations.judging.runs.counts import count_seldom, seconds_left
from evaluations.models import CandidateOutput, EvaluationRun, ItemState
from evaluations.models.runs import OPEN_STATES
from geval.evaluators.base import SCORED_EMPTY
from geval.llm.parsing import Reason


@dataclass(frozen=True)
class FailureGroup:
    """Failed items with one reason: how many, the reason's meaning, and one item's own message."""

    reason: str
    count: int
    explanation: str
    example: str


@dataclass(frozen=True)
class RunProgress:
    """A run's progress at a moment. `rate` is in items per minute since the start; `left` is None
    while unknown. `scored_empty` outputs have no words and a metric's score for that;
    `asked_about_empty` outputs were rated by a model although they are empty."""

    total: int
    done: int
    failed: int
    open: int
    rate: float
    left: timedelta | None
    failures: tuple[FailureGroup, ...]
    calls: int
    cache_hits: int
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int
    reasoning_tokens: int
    cost: Decimal | None
    mean_coverage: float | None
    noted: int
    scored_empty: int
    asked_about_empty: int

    @property
    def finished(self) -> int:
        return self.done + self.failed

    @property
    def share(self) -> float:
        return self.finished / self.total if self.total else 1.0


@dataclass(frozen=True)
class _Counted:
    """The figures that are read from all scores and failures of a run."""

    failures: tuple[FailureGroup, ...]
    mean_coverage: float | None
    noted: int
    scored_empty: int
    asked_about_empty: int


def run_progress(run: EvaluationRun) -> RunProgress:
    """Return a run's progress from its rows; for a large run it may be some seconds old."""
    counted = count_seldom(run.pk, run.item_count, (run.stage, "progress"), lambda: _count(run))
    items = run.items_by_state()
    finished = items[ItemState.DONE] + items[ItemState.FAILED]
    remaining = sum(items[state] for state in OPEN_STATES)
    seconds = (
        ((run.finished_at or timezone.now()) - run.started_at).total_seconds()
        if run.started_at
        else 0.0
    )
    rate = 60 * finished / seconds if seconds > 0 else 0.0
    left = seconds_left(run, remaining, rate)
    return RunProgress(
        total=finished + remaining,
        done=items[ItemState.DONE],
        failed=items[ItemState.FAILED],
        open=remaining,
        rate=rate,
        left=timedelta(seconds=round(left)) if left else None,
        failures=counted.failures,
        calls=run.calls,
        cache_hits=run.cache_hits,
        prompt_tokens=run.prompt_tokens,
        completion_tokens=run.completion_tokens,
        cached_tokens=run.cached_tokens,
        reasoning_tokens=run.reasoning_tokens,
        cost=run.cost,
        mean_coverage=counted.mean_coverage,
        noted=counted.noted,
        scored_empty=counted.scored_empty,
        asked_about_empty=counted.asked_about_empty,
    )


def _count(run: EvaluationRun) -> _Counted:
    summed = run.scores.aggregate(
        mean=Avg("coverage"),
        noted=Count("pk", filter=~Q(note__in=["", SCORED_EMPTY])),
        empty=Count("pk", filter=Q(note=SCORED_EMPTY)),
    )
    return _Counted(
        failures=tuple(
            FailureGroup(row["reason"], row["count"], _explained(row["reason"]), row["example"])
            for row in run.items.failures_by_reason()
        ),
        mean_coverage=summed["mean"],
        noted=summed["noted"],
        scored_empty=summed["empty"],
        asked_about_empty=_asked_about_empty(run) if run.judge.asks_llm else 0,
    )


def _asked_about_empty(run: EvaluationRun) -> int:
    empty = CandidateOutput.objects.filter(document__project=run.project_id).blank()
    return run.scores.filter(output__in=empty).count()


def _explained(reason: str) -> str:
    return Reason(reason).explanation if reason in set(Reason) else reason
