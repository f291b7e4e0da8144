"""How far a run is: counts, rate, time left, failures by reason, tokens."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db.models import Avg, Count, Sum
from django.utils import timezone

from evaluations.judging.parsing import Reason
from evaluations.models import EvaluationRun, ItemState, ModelReply


@dataclass(frozen=True)
class FailureGroup:
    """Failed items of one reason: how many, what the reason means, and one item's own words."""

    reason: str
    count: int
    explanation: str
    example: str


@dataclass(frozen=True)
class RunProgress:
    """A run at a moment. `rate` is in items a minute since the start; `left` is None while it cannot be told."""

    total: int
    done: int
    failed: int
    open: int
    rate: float
    left: timedelta | None
    failures: tuple[FailureGroup, ...]
    calls: int
    prompt_tokens: int
    completion_tokens: int
    mean_coverage: float | None

    @property
    def finished(self) -> int:
        return self.done + self.failed

    @property
    def share(self) -> float:
        return self.finished / self.total if self.total else 1.0


def run_progress(run: EvaluationRun) -> RunProgress:
    """Read a run's progress from its rows."""
    counts = run.items.counts()
    finished = counts[ItemState.DONE] + counts[ItemState.FAILED]
    remaining = counts[ItemState.PENDING] + counts[ItemState.LEASED]
    seconds = ((run.finished_at or timezone.now()) - run.started_at).total_seconds() if run.started_at else 0.0
    rate = 60 * finished / seconds if seconds > 0 else 0.0
    # Replies that the store had already were paid by an earlier run.
    replies = ModelReply.objects.filter(items__run=run, created_at__gte=run.created_at).distinct()
    used: dict[str, Any] = ModelReply.objects.filter(pk__in=replies.values("pk")).aggregate(
        calls=Sum("calls"), prompt=Sum("prompt_tokens"), completion=Sum("completion_tokens"), n=Count("pk")
    )
    return RunProgress(
        total=finished + remaining,
        done=counts[ItemState.DONE],
        failed=counts[ItemState.FAILED],
        open=remaining,
        rate=rate,
        left=timedelta(seconds=round(60 * remaining / rate)) if rate and remaining else None,
        failures=tuple(
            FailureGroup(row["reason"], row["count"], _explained(row["reason"]), row["example"])
            for row in run.items.failures_by_reason()
        ),
        calls=used["calls"] or 0,
        prompt_tokens=used["prompt"] or 0,
        completion_tokens=used["completion"] or 0,
        mean_coverage=run.scores.aggregate(mean=Avg("coverage"))["mean"],
    )


def _explained(reason: str) -> str:
    return Reason(reason).explanation if reason in set(Reason) else reason
