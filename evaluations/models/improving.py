"""Changes of judges that were tried, and the looks at documents that no choice has seen."""

from __future__ import annotations

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.urls import reverse

from evaluations.models.criteria import Criterion
from evaluations.models.errands import Errand
from evaluations.models.judges import Judge
from evaluations.models.project import Project

MOST_LOOKS = 40


class LockedDocuments(models.Model):
    """The documents that a project sets aside, by a rule that later documents follow too, and how
    often they may be looked at.

    Which documents are locked says `improving/locking.py`. Unlocking ends every claim.
    """

    project = models.OneToOneField(Project, on_delete=models.CASCADE, related_name="locked")
    share = models.FloatField(
        default=0.4, validators=[MinValueValidator(0.1), MaxValueValidator(0.9)]
    )
    seed = models.CharField(max_length=32)
    looks_allowed = models.PositiveSmallIntegerField(
        default=5, validators=[MinValueValidator(1), MaxValueValidator(MOST_LOOKS)]
    )
    locked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    locked_at = models.DateTimeField(auto_now_add=True)
    unlocked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    unlocked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = (
            models.CheckConstraint(
                condition=models.Q(share__range=(0.1, 0.9)), name="locked_share_in_range"
            ),
            models.CheckConstraint(
                condition=models.Q(looks_allowed__range=(1, MOST_LOOKS)), name="looks_in_range"
            ),
        )

    def __str__(self) -> str:
        return f"locked documents of {self.project}"

    @property
    def is_open(self) -> bool:
        """Whether somebody unlocked them."""
        return self.unlocked_at is not None


class Change(models.TextChoices):
    """What is tried."""

    CHOICE = "choice", "Another judge"
    PANEL = "panel", "Panel"
    CALIBRATION = "calibration", "Calibration map"


class Search(Errand):
    """A search for changes that improve a judge on a criterion, done by a worker."""

    PROJECT = "project_id"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="searches")
    judge = models.ForeignKey(Judge, on_delete=models.CASCADE, related_name="searches")
    criterion = models.ForeignKey(Criterion, on_delete=models.CASCADE, related_name="searches")
    changes = models.JSONField(default=list)
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    found = models.JSONField(
        default=dict, help_text="What it rested on: documents, today's value, judges left out."
    )

    class Meta:
        ordering = ("-pk",)

    def __str__(self) -> str:
        return f"search for {self.judge} on {self.criterion}"


class Candidate(models.Model):
    """A change that a search found.

    `formula` is what the judge of kind "formula" computes (evaluators/formula.py); `measure` is
    what the change should improve. `training` holds the values on training documents, each by
    cross-validation: `candidate`, `today`, `gain`, `documents`.
    """

    class Measure(models.TextChoices):
        RANK = "rank", "rho"
        DISTANCE = "distance", "distance"

    search = models.ForeignKey(Search, on_delete=models.CASCADE, related_name="candidates")
    change = models.CharField(max_length=20, choices=Change)
    measure = models.CharField(max_length=10, choices=Measure, default=Measure.RANK)
    title = models.CharField(max_length=200)
    description = models.CharField(max_length=1000, blank=True)
    formula = models.JSONField(default=dict)
    training = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True)
    adopted_as = models.ForeignKey(
        Judge, on_delete=models.SET_NULL, null=True, blank=True, related_name="adopted_from"
    )

    class Meta:
        ordering = ("-pk",)

    def __str__(self) -> str:
        return f"{self.title} for {self.search.judge} on {self.search.criterion}"

    def get_absolute_url(self) -> str:
        return reverse("evaluations:improve", args=[self.search.project.slug])


class Look(models.Model):
    """One look at the locked documents: who, when, which candidate, and what came out."""

    locked = models.ForeignKey(LockedDocuments, on_delete=models.PROTECT, related_name="looks")
    candidate = models.OneToOneField(Candidate, on_delete=models.PROTECT, related_name="look")
    looked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    looked_at = models.DateTimeField(auto_now_add=True)
    outcome = models.CharField(max_length=20)
    documents = models.PositiveIntegerField()
    value = models.FloatField(null=True)
    today = models.FloatField(null=True)
    gain = models.FloatField(null=True)
    low = models.FloatField(null=True)
    high = models.FloatField(null=True)
    confidence = models.FloatField()
    reason = models.CharField(max_length=500, blank=True)

    class Meta:
        ordering = ("pk",)

    def __str__(self) -> str:
        return f"look {self.pk}: {self.outcome}"
