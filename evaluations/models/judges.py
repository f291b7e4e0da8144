"""Who judges: an endpoint that speaks OpenAI's protocol, and a judge with its settings."""

from __future__ import annotations

import os

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models

from evaluations.models.project import Project
from evaluations.standin import MODEL as STAND_IN


class Endpoint(models.Model):
    """An OpenAI-compatible API. The key is named by an environment variable of the worker, never stored in clear."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="endpoints")
    base_url = models.URLField(max_length=500, help_text="Ends in /v1 on most servers.")
    key_env = models.CharField("environment variable with the key", max_length=100, blank=True)

    class Meta:
        ordering = ("pk",)
        constraints = (
            models.UniqueConstraint(fields=("project", "base_url", "key_env"), name="endpoint_once_per_project"),
        )

    def __str__(self) -> str:
        return self.base_url

    @property
    def api_key(self) -> str:
        """The key, or an empty text for a server that needs none."""
        return os.environ.get(self.key_env, "") if self.key_env else ""


class JudgeKind(models.TextChoices):
    GEVAL = "geval", "G-Eval"
    IMPORTED = "imported", "Imported scores"


class ScoringMode(models.TextChoices):
    LOGPROBS = "logprobs", "Token probabilities"
    SAMPLES = "samples", "Samples"
    DIRECT = "direct", "One greedy reply"


class Judge(models.Model):
    """An evaluator with frozen settings; imported scores belong to a judge of their own kind."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="judges")
    name = models.CharField(max_length=200)
    kind = models.CharField(max_length=20, choices=JudgeKind, default=JudgeKind.GEVAL)
    endpoint = models.ForeignKey(Endpoint, on_delete=models.PROTECT, null=True, blank=True, related_name="judges")
    model = models.CharField(max_length=200, blank=True)
    mode = models.CharField(max_length=20, choices=ScoringMode, blank=True)
    samples = models.PositiveIntegerField(
        "replies an item", default=20, validators=[MinValueValidator(1), MaxValueValidator(100)]
    )
    temperature = models.FloatField(default=0, validators=[MinValueValidator(0), MaxValueValidator(2)])
    use_steps = models.BooleanField("evaluation steps", default=True)
    concurrency = models.PositiveIntegerField(
        "calls in flight", default=16, validators=[MinValueValidator(1), MaxValueValidator(512)]
    )
    max_tokens = models.PositiveIntegerField(default=32)
    timeout_seconds = models.FloatField("time limit of a call", default=60)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("pk",)
        constraints = (models.UniqueConstraint(fields=("project", "name"), name="judge_once_per_project"),)

    def __str__(self) -> str:
        return self.name

    @property
    def is_stand_in(self) -> bool:
        """Whether the offline stand-in answers, which is not an LLM; every report says so."""
        return self.model == STAND_IN

    @property
    def can_run(self) -> bool:
        return self.kind == JudgeKind.GEVAL
