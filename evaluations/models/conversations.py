"""Conversations: turns shared by documents, stored once however many of their turns are rated."""

from __future__ import annotations

from django.db import models

from evaluations.models.project import Project
from geval.texts.turns import Turn, turns_from


class Conversation(models.Model):
    """The turns of a conversation, identified by their digest. It never changes, so several
    documents can refer to it, each with a different rated turn."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="conversations")
    digest = models.CharField(max_length=64)
    turns = models.JSONField(default=list)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=("project", "digest"), name="conversation_once_per_project"
            ),
        )

    def __str__(self) -> str:
        return f"conversation {self.pk}"

    def read(self) -> tuple[Turn, ...]:
        """Return all of its turns."""
        return turns_from(self.turns)
