"""With which probability outputs were chosen to be rated."""

from __future__ import annotations

from django.db import models

from annotations.models.campaigns import Campaign
from evaluations.models import CandidateOutput, Criterion

_PROBABLE = models.Q(probability__gt=0, probability__lte=1)
_STATED = models.Q(probability__gte=0, probability__lte=1)


class Inclusion(models.Model):
    """With which probability a campaign chose an output; also of those that it did not choose, as
    campaigns are combined by what each could have chosen.

    Campaigns with all outputs have none, nor have those whose items are no probability sample.
    """

    campaign = models.ForeignKey(
        Campaign, on_delete=models.CASCADE, related_name="inclusions", db_index=False
    )
    output = models.ForeignKey(CandidateOutput, on_delete=models.CASCADE, related_name="+")
    probability = models.FloatField()

    class Meta:
        ordering = ("pk",)
        constraints = (
            models.UniqueConstraint(fields=("campaign", "output"), name="inclusion_once"),
            models.CheckConstraint(condition=_PROBABLE, name="inclusion_is_a_probability"),
        )

    def __str__(self) -> str:
        return f"{self.probability:g}"


class StatedProbability(models.Model):
    """With which probability an output was chosen to be rated on a criterion, as a file says that
    brought its ratings; 0 for one that was not drawn but picked."""

    output = models.ForeignKey(
        CandidateOutput, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    criterion = models.ForeignKey(Criterion, on_delete=models.CASCADE, related_name="+")
    probability = models.FloatField()

    class Meta:
        ordering = ("pk",)
        constraints = (
            models.UniqueConstraint(fields=("output", "criterion"), name="stated_probability_once"),
            models.CheckConstraint(condition=_STATED, name="stated_is_a_probability"),
        )

    def __str__(self) -> str:
        return f"{self.probability:g}"
