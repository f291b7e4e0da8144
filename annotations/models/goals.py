"""The goal at which a campaign closes itself."""

from __future__ import annotations

from typing import Any

from django.db import models

from annotations.models.campaigns import Campaign
from evaluations.models import Criterion, Judge, System
from evaluations.models.goals import GoalKind


class CampaignGoal(models.Model):
    """The goal of a campaign on one criterion, fixed when the campaign opens.

    `width` is an interval's half-width. `low` and `high` are the ends of the interval with which
    the goal was reached, `documents` the number it is based on; `seen` is a digest of the ratings
    and scores when the interval was last checked.
    """

    campaign = models.OneToOneField(Campaign, on_delete=models.CASCADE, related_name="goal")
    kind = models.CharField(max_length=10, choices=GoalKind)
    criterion = models.ForeignKey(Criterion, on_delete=models.CASCADE, related_name="+")
    width = models.FloatField(null=True)
    judge = models.ForeignKey(Judge, on_delete=models.CASCADE, null=True, related_name="+")
    rival = models.ForeignKey(Judge, on_delete=models.CASCADE, null=True, related_name="+")
    system = models.ForeignKey(System, on_delete=models.CASCADE, null=True, related_name="+")
    other = models.ForeignKey(System, on_delete=models.CASCADE, null=True, related_name="+")
    seen = models.CharField(max_length=32, default="", db_default="", blank=True)
    reached_at = models.DateTimeField(null=True)
    documents = models.PositiveIntegerField(null=True)
    low = models.FloatField(null=True)
    high = models.FloatField(null=True)

    def __str__(self) -> str:
        return f"goal of {self.campaign}"

    @property
    def sides(self) -> tuple[Any, ...]:
        """The two systems or judges that are compared, or the single judge."""
        if self.kind == GoalKind.SYSTEMS:
            return (self.system, self.other)
        return (self.judge, self.rival) if self.kind == GoalKind.JUDGES else (self.judge,)
