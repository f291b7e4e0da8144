"""Changes of a project's ratings and scores, one row per change, for reports that stay up to date.

Rows are only added, so that writers never wait for each other; readers group them and remove old
ones.
"""

from __future__ import annotations

from django.db import models
from django.db.models.functions import Now

from evaluations.models.criteria import Criterion
from evaluations.models.judges import Judge
from evaluations.models.project import Project


class ScoreChange(models.Model):
    """Scores of `judge` (empty: people's ratings) have changed on `criterion` (empty: all)."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="score_changes")
    judge = models.ForeignKey(
        Judge, on_delete=models.CASCADE, null=True, related_name="+", db_index=False
    )
    criterion = models.ForeignKey(
        Criterion, on_delete=models.CASCADE, null=True, related_name="+", db_index=False
    )
    at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ("pk",)

    def __str__(self) -> str:
        return f"change {self.pk} of {self.project_id}"
