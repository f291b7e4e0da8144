"""Models of ratings, preferences and marked spans."""

from __future__ import annotations

from django.db import models
from django.db.models.functions import Now

from annotations.models.people import Annotator
from evaluations.models import CandidateOutput, Criterion
from geval.statistics.scales import NOT_APPLICABLE


class Rating(models.Model):
    """One annotator's score of one output on one criterion."""

    output = models.ForeignKey(
        CandidateOutput, on_delete=models.CASCADE, related_name="ratings", db_index=False
    )
    criterion = models.ForeignKey(Criterion, on_delete=models.CASCADE, related_name="ratings")
    annotator = models.ForeignKey(Annotator, on_delete=models.PROTECT, related_name="ratings")
    score = models.FloatField(null=True, help_text="Empty for “not applicable”.")
    scores_in_sight = models.BooleanField(
        db_default=False, help_text="LLM scores were shown while rating."
    )
    comment = models.TextField(
        blank=True, db_default="", help_text="What the rater wrote beside it."
    )
    guidelines_version = models.IntegerField(
        null=True, blank=True, help_text="Of the guidelines that the annotator had been shown."
    )
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ("pk",)
        constraints = (
            # The index contains the score, so that a document's mean ratings are read from it
            # alone.
            models.UniqueConstraint(
                fields=("output", "criterion", "annotator"),
                include=("score",),
                name="rating_once_per_annotator",
            ),
        )

    def __str__(self) -> str:
        return NOT_APPLICABLE if self.score is None else f"{self.score:g}"


class Preference(models.Model):
    """One annotator's choice between two outputs of one document, on a criterion or (without one)
    overall.

    `value` is positive if `output_a` is preferred, negative if `output_b` is, 0 for a tie; 2 is a
    strong preference. `output_a` is the output with the lower id; `a_was_left` says how they were
    shown.
    """

    annotator = models.ForeignKey(Annotator, on_delete=models.PROTECT, related_name="preferences")
    output_a = models.ForeignKey(
        CandidateOutput, on_delete=models.CASCADE, related_name="preferences_as_a"
    )
    output_b = models.ForeignKey(
        CandidateOutput, on_delete=models.CASCADE, related_name="preferences_as_b"
    )
    criterion = models.ForeignKey(
        Criterion, on_delete=models.CASCADE, null=True, blank=True, related_name="preferences"
    )
    value = models.SmallIntegerField()
    a_was_left = models.BooleanField(
        null=True, help_text="Unknown for imported preferences and for rankings."
    )
    scores_in_sight = models.BooleanField(db_default=False)
    comment = models.TextField(blank=True, db_default="")
    guidelines_version = models.IntegerField(null=True, blank=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ("pk",)
        constraints = (
            models.UniqueConstraint(
                fields=("output_a", "output_b", "criterion", "annotator"),
                name="preference_once_per_annotator",
                nulls_distinct=False,
            ),
            models.CheckConstraint(
                condition=models.Q(output_a__lt=models.F("output_b")), name="preference_in_id_order"
            ),
            models.CheckConstraint(
                condition=models.Q(value__range=(-2, 2)), name="preference_value_in_range"
            ),
        )

    def __str__(self) -> str:
        return "tie" if not self.value else "a" if self.value > 0 else "b"


class Span(models.Model):
    """A part of an output that an annotator marked with an error type and a severity.

    `start` and `end` count code points of the output's text; `quote` is the text between them.
    """

    annotator = models.ForeignKey(Annotator, on_delete=models.PROTECT, related_name="spans")
    output = models.ForeignKey(CandidateOutput, on_delete=models.CASCADE, related_name="spans")
    start = models.PositiveIntegerField()
    end = models.PositiveIntegerField()
    quote = models.TextField()
    category = models.CharField(max_length=100)
    severity = models.CharField(max_length=100, blank=True)

    class Meta:
        ordering = ("output", "start", "pk")
        constraints = (
            models.CheckConstraint(
                condition=models.Q(start__lt=models.F("end")), name="span_not_empty"
            ),
        )

    def __str__(self) -> str:
        return f"{self.category}: {self.quote[:50]}"
