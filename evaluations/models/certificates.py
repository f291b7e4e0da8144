"""Certificates: what a judge was shown to meet, and on which data."""

from typing import Any

from django.conf import settings
from django.db import models
from django.urls import reverse

from evaluations.models.criteria import Criterion
from evaluations.models.judges import Judge
from evaluations.models.project import Project


class Certificate(models.Model):
    """A check of a judge on a criterion, with its content as issued.

    `content` never changes; whether it still fits is determined by comparing its digests with
    today's.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="certificates")
    judge = models.ForeignKey(Judge, on_delete=models.CASCADE, related_name="certificates")
    criterion = models.ForeignKey(Criterion, on_delete=models.CASCADE, related_name="certificates")
    outcome = models.CharField(max_length=10, help_text="Met, not met, or cannot say.")
    content = models.JSONField()
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    made_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("-pk",)

    def __str__(self) -> str:
        return f"{self.judge} on {self.criterion}: {self.outcome}"

    def get_absolute_url(self) -> str:
        return reverse("evaluations:certificate_detail", args=[self.project.slug, self.pk])

    @property
    def requirements(self) -> list[dict[str, Any]]:
        """Each requirement with its outcome."""
        return list(self.content["requirements"])
