"""What a run's calls wait for, as its page shows it."""

from __future__ import annotations

import datetime
from dataclasses import dataclass

from django.utils import timezone

from evaluations.judging.runs.quota import allowed_rate
from evaluations.models import EvaluationRun
from geval.texts.numbers import NARROW

# Shorter waits end before anybody could read about them.
SHOWN_WAIT_SECONDS = 2.0


@dataclass(frozen=True)
class Wait:
    """When calls stop waiting, and the endpoint's message that caused the wait."""

    until: datetime.datetime | None = None
    reason: str = ""

    @classmethod
    def of(cls, seconds: float, reason: str) -> Wait:
        """Return a wait that begins now."""
        return cls(timezone.now() + datetime.timedelta(seconds=seconds), reason)

    def outlasts(self, other: Wait) -> bool:
        """Whether this wait ends later than another."""
        return self.until is not None and (other.until is None or self.until > other.until)


def allowed_pace(run: EvaluationRun) -> str:
    """Return the pace that the run's calls are held to, such as "50 requests per second"; empty if
    there is none."""
    endpoint = run.judge.endpoint
    if not run.is_active or endpoint is None:
        return ""
    rate = allowed_rate(endpoint.account, run.frozen.model)
    return in_words(rate) if rate else ""


def in_words(rate: float) -> str:
    """Format a rate in calls per second, with the unit that gives a number of about two digits."""
    unit, seconds = "hour", 3600
    if rate * 60 >= 3:
        unit, seconds = ("second", 1) if rate >= 3 else ("minute", 60)
    count = max(1, round(rate * seconds))
    return f"{count:,} request{'' if count == 1 else 's'} per {unit}".replace(",", NARROW)
