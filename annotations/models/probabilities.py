"""The probabilities with which outputs were chosen to be rated."""

from __future__ import annotations

from django.db import models

from annotations.models.campaigns import Campaign
from evaluations.models import CandidateOutput, Criterion

_PROBABLE = models.Q(probability__gt=0, probability__lte=1)
_STATED = models.Q(probability__gte=0, probability__lte=1)


class Inclusion(models.Model):
    """The probability with which a campaign could choose an output, including outputs that it did
    not choose: campaigns are combined by what each could have chosen.

    Campaigns with all outputs have no rows, nor have those whose items are not a probability
    sample.
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
    """The probability with which an output was chosen to be rated on a criterion, as stated by the
    file with its ratings; 0 if it was hand-picked."""

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
