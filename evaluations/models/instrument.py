"""Studies of a judge as an instrument: some outputs, asked about repeatedly."""

from __future__ import annotations

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models.functions import Now
from django.utils import timezone

from evaluations.models.corpus import CandidateOutput
from evaluations.models.criteria import Criterion
from evaluations.models.judges import Judge
from evaluations.models.project import Project
from evaluations.models.runs import EvaluationRun, RunState

MOST_REPLIES = 20


class StudyKind(models.TextChoices):
    AGAIN = "again", "Asked again"
    PROBES = "probes", "Probes"


class StudyQuerySet(models.QuerySet["Study"]):
    def due(self) -> StudyQuerySet:
        """Return studies that are due and whose last run has ended; none in archived projects."""
        waiting = StudyPart.objects.filter(study=models.OuterRef("pk"), recorded_at=None)
        return self.filter(
            ~models.Exists(waiting),
            is_on=True,
            next_at__lte=timezone.now(),
            project__archived_at=None,
        )

    def stop(self) -> int:
        """End studies for good, keeping their findings; return how many had not ended before."""
        return self.filter(is_on=True).update(is_on=False, message="Stopped.")


_Manager = models.Manager.from_queryset(StudyQuerySet)


class StudyManager(_Manager["Study"]):
    """Studies without those of kinds that are no longer asked, whose rows stay for a release."""

    def get_queryset(self) -> StudyQuerySet:
        return StudyQuerySet(self.model, using=self._db).filter(kind__in=StudyKind.values)


class Study(models.Model):
    """A judge asked about some outputs on a criterion, separately from its scores.

    "Asked again" asks `replies` times; probes ask once per perturbation. Each asking is a part with
    its own run. `prompt` and `model` (as reported) are those of the first part.
    `budget` applies to each run. `message` says why the study stopped asking.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="studies")
    judge = models.ForeignKey(Judge, on_delete=models.CASCADE, related_name="studies")
    criterion = models.ForeignKey(Criterion, on_delete=models.CASCADE, related_name="studies")
    kind = models.CharField(max_length=10, choices=StudyKind)
    replies = models.PositiveSmallIntegerField(
        default=5, validators=[MinValueValidator(1), MaxValueValidator(MOST_REPLIES)]
    )
    budget = models.DecimalField(max_digits=14, decimal_places=4, null=True, blank=True)
    is_on = models.BooleanField(default=True, help_text="Whether it has anything left to ask.")
    next_at = models.DateTimeField(db_default=Now())
    message = models.CharField(max_length=500, blank=True)
    prompt = models.TextField(blank=True)
    model = models.CharField(max_length=200, blank=True)
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    made_at = models.DateTimeField(db_default=Now())

    objects = StudyManager()

    class Meta:
        ordering = ("-pk",)
        verbose_name_plural = "studies"

    def __str__(self) -> str:
        return f"{self.get_kind_display().lower()} of {self.judge} on {self.criterion}"

    @property
    def was_asked_here(self) -> bool:
        """Whether its scores come from runs of this site; an archive contains none of its runs."""
        return not self.parts.filter(run=None).exists()


class StudyPart(models.Model):
    """One asking of a study: a run, then the reported model.

    `name` is the probe's; `number` counts from 1, in the order of `StudyItem.scores`.
    """

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="parts")
    number = models.PositiveIntegerField()
    name = models.CharField(max_length=20, blank=True)
    run = models.OneToOneField(
        EvaluationRun, on_delete=models.SET_NULL, null=True, blank=True, related_name="study_part"
    )
    model = models.CharField(max_length=200, blank=True)
    started_at = models.DateTimeField(db_default=Now())
    recorded_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("study", "number")
        constraints = (
            models.UniqueConstraint(fields=("study", "number"), name="part_once_per_study"),
        )

    def __str__(self) -> str:
        return f"part {self.number} of {self.study}"

    @property
    def waits_for(self) -> str:
        """Why its run does not continue; empty if it does, or has ended."""
        run = self.run
        return run.message if run is not None and run.state == RunState.PAUSED else ""


class StudyItem(models.Model):
    """An output of a study, with people's mean rating at its start and one score per part, None if
    missing."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="items")
    output = models.ForeignKey(CandidateOutput, on_delete=models.CASCADE, related_name="+")
    rating = models.FloatField(null=True, blank=True)
    scores = models.JSONField(default=list)

    class Meta:
        ordering = ("pk",)
        constraints = (
            models.UniqueConstraint(fields=("study", "output"), name="item_once_per_study"),
        )

    def __str__(self) -> str:
        return f"{self.output} in {self.study}"
