"""Annotators: people who rate or compare."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models.functions import Now

from evaluations.models import Project


class Annotator(models.Model):
    """A rater: a person, signed in or named in an uploaded file, or a mean that a file states.

    Some releases give only the mean of several people's ratings. Such a mean is stored as a
    separate kind of rating and is used where no individual ratings exist, never averaged with them.
    """

    class Kind(models.TextChoices):
        PERSON = "person", "Person"
        MEAN = "mean", "Mean of several people"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="annotators")
    name = models.CharField(max_length=200)
    kind = models.CharField(max_length=10, choices=Kind, default=Kind.PERSON)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="annotators",
    )

    class Meta:
        ordering = ("pk",)
        constraints = (
            models.UniqueConstraint(fields=("project", "name"), name="annotator_once_per_project"),
            models.UniqueConstraint(fields=("project", "user"), name="annotator_once_per_user"),
        )

    def __str__(self) -> str:
        return self.name


class Exclusion(models.Model):
    """A person whom an owner excluded from a project's campaigns: their answers are rejected, and
    they get no items until the exclusion is lifted."""

    annotator = models.ForeignKey(Annotator, on_delete=models.CASCADE, related_name="exclusions")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    by_name = models.CharField(max_length=150, blank=True, db_default="")
    reason = models.TextField()
    at = models.DateTimeField(db_default=Now())
    lifted_at = models.DateTimeField(null=True, blank=True)
    lifted_by_name = models.CharField(max_length=150, blank=True, db_default="")

    class Meta:
        ordering = ("pk",)
        constraints = (
            models.UniqueConstraint(
                fields=("annotator",),
                condition=models.Q(lifted_at=None),
                name="excluded_once_at_a_time",
            ),
        )

    def __str__(self) -> str:
        return f"{self.annotator} excluded"
