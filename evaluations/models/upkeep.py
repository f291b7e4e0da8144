"""Periodic jobs of the site: when each is due, and how its last turn went."""

from __future__ import annotations

import datetime

from django.db import models
from django.db.models import Case, F, When
from django.utils import timezone

# A job is overdue when nobody has begun it for so long, or when its turn, begun again by one worker
# after the other, has not ended for an interval and so long.
GRACE = datetime.timedelta(minutes=10)


def _soon_late() -> datetime.datetime:
    return timezone.now() + GRACE


class UpkeepJobQuerySet(models.QuerySet["UpkeepJob"]):
    def claim(self, name: str, every: datetime.timedelta) -> bool:
        """Whether a job is due and no other worker has begun this turn of it; it has begun then."""
        now = timezone.now()
        mine = self.filter(name=name)
        # What a lost or hanging worker began has not ended, so the moment of being late stays.
        late_at = Case(When(begun_at=None, then=now + every + GRACE), default=F("late_at"))
        turn = {"due_at": now + every, "begun_at": now, "late_at": late_at}
        if mine.filter(due_at__lte=now).update(**turn):
            return True
        if mine.exists():
            return False
        self.bulk_create([UpkeepJob(name=name)], ignore_conflicts=True)
        return self.claim(name, every)

    def end(self, name: str, *, seconds: float, failure: str = "") -> None:
        """Record the end of a job's turn; `failure` says why it failed."""
        self.filter(name=name).update(
            begun_at=None,
            ended_at=timezone.now(),
            late_at=F("due_at") + GRACE,
            seconds=seconds,
            failure=failure[:300],
        )

    def troubles(self) -> list[str]:
        """Which jobs failed the last time or are overdue, in words."""
        return [job.trouble for job in self.order_by("name") if job.trouble]


class UpkeepJob(models.Model):
    """A job that one worker of the site does at a time, again and again."""

    name = models.CharField(max_length=60, unique=True)
    due_at = models.DateTimeField(default=timezone.now)
    late_at = models.DateTimeField(
        default=_soon_late, help_text="From when on it is overdue, if nothing ends before."
    )
    begun_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    seconds = models.FloatField(null=True, blank=True, help_text="How long the last turn took.")
    failure = models.CharField(max_length=300, blank=True, default="")

    objects = UpkeepJobQuerySet.as_manager()

    class Meta:
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name

    @property
    def is_overdue(self) -> bool:
        """Whether its turn should have begun, or ended, long ago."""
        return timezone.now() > self.late_at

    @property
    def trouble(self) -> str:
        """What is wrong with it, in words; empty if nothing is."""
        if self.failure:
            return f"{self.name} failed ({self.failure})"
        return f"{self.name}: overdue" if self.is_overdue else ""
