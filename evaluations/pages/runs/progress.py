"""A run's progress: counts, rate, time left, failures by reason, tokens."""

from dataclasses import dataclass
from datetime import timedelta

from django.db.models import Avg, Count, Q
from django.utils import timezone

from evaluations.judging.runs.counts import count_seldom, finished, seconds_left
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
class Counted:
    """The figures that are read from all scores and failures of a run. `scored_empty` outputs have
    no words and a metric's score for that; `asked_about_empty` outputs were rated by a model
    although they are empty."""

    failures: tuple[FailureGroup, ...]
    mean_coverage: float | None
    noted: int
    scored_empty: int
    asked_about_empty: int


@dataclass(frozen=True)
class RunProgress:
    """A run's progress at a moment. `rate` is in items per minute since the start; `left` is None
    while unknown."""

    finished: int
    done: int
    open: int
    rate: float
    left: timedelta | None
    counted: Counted

    @property
    def failed(self) -> int:
        return self.finished - self.done

    @property
    def total(self) -> int:
        return self.finished + self.open


def run_progress(run: EvaluationRun) -> RunProgress:
    """Return a run's progress from its rows; for a large run it may be some seconds old."""
    counted = count_seldom(run.pk, run.item_count, (run.stage, "progress"), lambda: _count(run))
    items, seconds = run.items_by_state(), 0.0
    done, remaining = finished(items), sum(items[state] for state in OPEN_STATES)
    if run.started_at:
        seconds = ((run.finished_at or timezone.now()) - run.started_at).total_seconds()
    rate = 60 * done / seconds if seconds > 0 else 0.0
    left = seconds_left(run, remaining, rate)
    in_time = timedelta(seconds=round(left)) if left else None
    return RunProgress(done, items[ItemState.DONE], remaining, rate, in_time, counted)


def _count(run: EvaluationRun) -> Counted:
    summed = run.scores.aggregate(
        mean=Avg("coverage"),
        noted=Count("pk", filter=~Q(note__in=["", SCORED_EMPTY])),
        empty=Count("pk", filter=Q(note=SCORED_EMPTY)),
    )
    return Counted(
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
