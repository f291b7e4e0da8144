"""Limits that an administrator sets for a project, the monthly cost of its runs, and
counts of requests."""

from __future__ import annotations

import datetime
import zlib
from decimal import Decimal
from typing import ClassVar

from django.core.validators import MinValueValidator
from django.db import models
from django.db.models.functions import Cast, Extract, Now
from django.utils import timezone

from evaluations.models.project import Project
from geval_site.sql import fetch_row


def this_month() -> datetime.date:
    """Return the first day of the month, in UTC."""
    return timezone.now().astimezone(datetime.UTC).date().replace(day=1)


class ProjectLimits(models.Model):
    """Limits of one project in place of the site's. Empty means the site's; 0 means no limit."""

    project = models.OneToOneField(Project, on_delete=models.CASCADE, related_name="limits")
    storage_mb = models.PositiveIntegerField(
        "storage in MB", null=True, blank=True, help_text="Of texts and of what models replied."
    )
    runs = models.PositiveIntegerField("runs at the same time", null=True, blank=True)
    money_per_month = models.DecimalField(
        max_digits=14,
        decimal_places=4,
        null=True,
        blank=True,
        validators=[MinValueValidator(Decimal(0))],
        help_text="In the currency of the judges' prices.",
    )
    invitations = models.PositiveIntegerField("open invitations", null=True, blank=True)

    def __str__(self) -> str:
        return f"limits of {self.project}"


class MonthlySpendingQuerySet(models.QuerySet["MonthlySpending"]):
    def of_this_month(self) -> MonthlySpendingQuerySet:
        return self.filter(month=this_month())


class MonthlySpending(models.Model):
    """The cost of a project's runs in a month, added up as their calls are counted. Workers also
    lock this row while they count a month's money."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="spending")
    month = models.DateField(help_text="Its first day, in UTC.")
    money = models.DecimalField(max_digits=18, decimal_places=8, default=0, db_default=0)

    objects: ClassVar = MonthlySpendingQuerySet.as_manager()

    class Meta:
        ordering = ("-month",)
        constraints = (
            models.UniqueConstraint(fields=("project", "month"), name="spending_once_a_month"),
        )

    def __str__(self) -> str:
        return f"{self.money} in {self.month:%Y-%m}"


NOW = "floor(extract(epoch FROM clock_timestamp()))::bigint"
# A single statement, so that concurrent processes wait only for its duration. The database's clock
# counts: otherwise a machine with a fast clock would open a window that ends too late for all. A
# window too far in the future for any correct clock does not count, nor does one that has ended.
TAKE = f"""
    INSERT INTO evaluations_requestcount AS counted (sender, ends_at, taken)
    SELECT %(sender)s, now - mod(now - %(shift)s, %(seconds)s) + %(seconds)s, %(share)s
    FROM (SELECT {NOW} AS now) AS clock
    ON CONFLICT (sender) DO UPDATE SET
        taken = excluded.taken + CASE
            WHEN counted.ends_at BETWEEN excluded.ends_at AND excluded.ends_at + %(seconds)s
            THEN counted.taken ELSE 0 END,
        ends_at = CASE
            WHEN counted.ends_at BETWEEN excluded.ends_at AND excluded.ends_at + %(seconds)s
            THEN counted.ends_at ELSE excluded.ends_at END
    RETURNING taken, ends_at - extract(epoch FROM clock_timestamp())::double precision
"""


class RequestCountQuerySet(models.QuerySet["RequestCount"]):
    def take(self, sender: str, *, share: int, seconds: int) -> tuple[int, float]:
        """Count some requests of a sender. Return the count so far in the current window of this
        many seconds, and the seconds left in it."""
        # Stagger the ends of different senders' windows.
        shift = zlib.crc32(sender.encode()) % seconds
        values: dict[str, str | int] = {
            "sender": sender,
            "share": share,
            "seconds": seconds,
            "shift": shift,
        }
        taken, left = fetch_row(TAKE, values)
        return int(taken), float(left)

    def ended(self) -> RequestCountQuerySet:
        """Return counts of windows that are over."""
        now = Cast(Extract(Now(), "epoch"), models.BigIntegerField())
        return self.filter(ends_at__lt=now)


class RequestCount(models.Model):
    """The requests of one sender at one rate in the window that ends at a second of the epoch."""

    sender = models.CharField(
        max_length=64, primary_key=True, help_text="A digest of it and the rate."
    )
    ends_at = models.BigIntegerField()
    taken = models.BigIntegerField()

    objects = RequestCountQuerySet.as_manager()

    class Meta:
        indexes = (models.Index(fields=("ends_at",), name="request_counts_ended"),)

    def __str__(self) -> str:
        return f"count {self.sender}"
