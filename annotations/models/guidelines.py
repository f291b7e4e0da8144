"""Versions of the guidelines that a project's annotators read."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import models
from django.db.models.functions import Now

from evaluations.models import Project


class GuidelinesQuerySet(models.QuerySet["GuidelinesVersion"]):
    def current(self, project: Project, *, by: Any = None) -> GuidelinesVersion:
        """Return the version with a project's texts as they are, storing it first if they differ
        from the newest.

        Args:
            by: the user who saved them; None if that is unknown.
        """
        texts = guidelines_texts(project)
        newest = self.filter(project=project).last()
        if newest is not None and newest.texts == texts:
            return newest
        # Two requests may find the same change; the number keeps the second from storing it again.
        version, _ = self.get_or_create(
            project=project,
            number=newest.number + 1 if newest else 1,
            defaults={
                "texts": texts,
                "user": by,
                "by_name": by.get_username() if by else "",
            },
        )
        return version

    def newest_number(self, project_id: int) -> int | None:
        """Return the number of the newest version; None before the first."""
        return self.filter(project=project_id).values_list("number", flat=True).last()


class GuidelinesVersion(models.Model):
    """The guidelines between two saves that changed them.

    `texts` has the project's guidelines under "", and what each criterion says to annotators under
    its name; empty ones are left out. Answers have the `number` of the version that their annotator
    had been shown.
    """

    project = models.ForeignKey(
        Project, on_delete=models.CASCADE, related_name="guidelines_versions", db_index=False
    )
    number = models.PositiveIntegerField()
    texts = models.JSONField()
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    by_name = models.CharField(max_length=150, blank=True, db_default="")
    created_at = models.DateTimeField(db_default=Now())

    objects = GuidelinesQuerySet.as_manager()

    class Meta:
        ordering = ("project", "number")
        constraints = (
            models.UniqueConstraint(fields=("project", "number"), name="guidelines_number_once"),
        )

    def __str__(self) -> str:
        return f"version {self.number}"


def guidelines_texts(project: Project) -> dict[str, str]:
    """Return what annotators of a project read: see `GuidelinesVersion`. The definition stands in
    for the guidelines of a criterion without any, as on their page."""
    criteria = project.criteria.values_list("name", "guidelines", "definition")
    texts = {"": project.guidelines} | {
        name: guidelines or definition for name, guidelines, definition in criteria
    }
    return {name: text for name, text in texts.items() if text.strip()}
