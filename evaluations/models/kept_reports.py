"""Reports of large projects, computed by workers and stored for all web processes."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.db.models.functions import MD5, Now
from django.utils import timezone

from evaluations.models.project import Project


class KeptState(models.TextChoices):
    WAITING = "waiting", "Waiting for a worker"
    COMPUTING = "computing", "Being computed"
    DONE = "done", "Done"
    FAILED = "failed", "Failed"


OPEN = (KeptState.WAITING, KeptState.COMPUTING)


class KeptReportQuerySet(models.QuerySet["KeptReport"]):
    def free(self) -> KeptReportQuerySet:
        """Return reports that a worker may claim: unclaimed, or with an expired lease."""
        lost = Q(state=KeptState.COMPUTING, taken_until__lte=timezone.now())
        return self.filter(Q(state=KeptState.WAITING) | lost)

    def in_progress(self) -> KeptReportQuerySet:
        """Return reports that a worker is computing."""
        return self.filter(state=KeptState.COMPUTING, taken_until__gt=timezone.now())

    def done(self) -> KeptReportQuerySet:
        return self.filter(state=KeptState.DONE)


class KeptReport(models.Model):
    """A view of a project's report: being computed, or with its numbers in `parts`.

    `fingerprint` identifies the ratings, scores and names behind the numbers; `code` identifies the
    software versions that can read them. Numbers of other versions are never read.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="kept_reports")
    view = models.TextField(blank=True, help_text="The options of the view, as in its address.")
    code = models.CharField(max_length=100)
    fingerprint = models.CharField(
        max_length=32, blank=True, help_text="Of what it is computed from."
    )
    state = models.CharField(max_length=10, choices=KeptState, default=KeptState.WAITING)
    step = models.CharField(max_length=200, blank=True, help_text="What is being computed.")
    share = models.FloatField(default=0.0, help_text="How much of it is done, from 0 to 1.")
    message = models.CharField(max_length=1000, blank=True, help_text="Why it failed.")
    attempts = models.SmallIntegerField(default=0, help_text="How often a worker started it.")
    taken_until = models.DateTimeField(
        null=True, blank=True, help_text="After that, another worker may claim it."
    )
    wanted_at = models.DateTimeField(db_default=Now())
    computed_at = models.DateTimeField(
        null=True, blank=True, help_text="When the numbers that it is computed from were read."
    )
    ended_at = models.DateTimeField(null=True, blank=True)
    seconds = models.FloatField(null=True, blank=True, help_text="How long it took.")

    objects = KeptReportQuerySet.as_manager()

    class Meta:
        ordering = ("-pk",)
        constraints = (
            # A view may be longer than an index entry.
            models.UniqueConstraint(
                "project",
                MD5("view"),
                "code",
                condition=Q(state__in=("waiting", "computing")),
                name="kept_report_computed_once",
            ),
        )

    def __str__(self) -> str:
        return f"report {self.pk} of {self.project_id}"

    @property
    def has_failed(self) -> bool:
        return self.state == KeptState.FAILED


class KeptPart(models.Model):
    """A part of a stored report, as pages and downloads need it, in the form of
    geval/reports/stored.py."""

    kept = models.ForeignKey(
        KeptReport, on_delete=models.CASCADE, related_name="parts", db_index=False
    )
    name = models.CharField(max_length=100)
    content = models.BinaryField()

    class Meta:
        ordering = ("pk",)
        constraints = (
            models.UniqueConstraint(fields=("kept", "name"), name="part_once_per_kept_report"),
        )

    def __str__(self) -> str:
        return f"{self.name} of report {self.kept_id}"
