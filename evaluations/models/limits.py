"""Limits that an administrator sets for a project, and the monthly cost of its runs."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import ClassVar

from django.core.validators import MinValueValidator
from django.db import models
from django.utils import timezone

from evaluations.models.project import Project


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
