"""Periodic jobs of the site: when each is due, the outcome of its last turn, and a lock for one
process at a time."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection, models
from django.db.models import Case, F, When
from django.utils import timezone

# A job is overdue if no worker has begun it for this long, or if its turn, even restarted by
# several workers, has not ended within an interval plus this time.
GRACE = datetime.timedelta(minutes=10)


def _soon_late() -> datetime.datetime:
    return timezone.now() + GRACE


class UpkeepJobQuerySet(models.QuerySet["UpkeepJob"]):
    def claim(self, name: str, every: datetime.timedelta) -> bool:
        """Claim a turn of a job: return True if it is due and no other worker has begun this
        turn."""
        now = timezone.now()
        job = self.filter(name=name)
        # A turn begun by a lost or hanging worker has not ended, so `late_at` stays.
        late_at = Case(When(begun_at=None, then=now + every + GRACE), default=F("late_at"))
        turn = {"due_at": now + every, "begun_at": now, "late_at": late_at}
        if job.filter(due_at__lte=now).update(**turn):
            return True
        if job.exists():
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
        """Describe the jobs that failed the last time or are overdue."""
        return [job.trouble for job in self.order_by("name") if job.trouble]


class UpkeepJob(models.Model):
    """A periodic job that one worker of the site does at a time."""

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
        """Whether its turn should have begun or ended long ago."""
        return timezone.now() > self.late_at

    @property
    def trouble(self) -> str:
        """What is wrong with the job, in words; empty if nothing is."""
        if self.failure:
            return f"{self.name} failed ({self.failure})"
        return f"{self.name}: overdue" if self.is_overdue else ""


@contextmanager
def alone(lock: int) -> Iterator[bool]:
    """Whether this process got a database lock that no other process holds; it keeps the lock until
    it ends.

    Args:
        lock: any number not used elsewhere.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s)", [lock])
        is_alone = cursor.fetchone()[0]
        try:
            yield is_alone
        finally:
            if is_alone:
                cursor.execute("SELECT pg_advisory_unlock(%s)", [lock])
