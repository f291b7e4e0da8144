"""Requests to endpoints that workers make for pages and the API, which never wait themselves."""

from __future__ import annotations

from typing import Self, TypeVar

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone

# An errand that kills its worker must not kill one after another.
MOST_ATTEMPTS = 3
MOST_NEGLECTED = 100
LOST_MESSAGE = (
    f"{MOST_ATTEMPTS} workers started it and none finished. Is a worker being stopped or running"
    " out of memory? Try again later."
)


class ErrandState(models.TextChoices):
    WAITING = "waiting", "Waiting for a worker"
    ASKING = "asking", "Asking the endpoint"
    DONE = "done", "Done"
    FAILED = "failed", "Failed"
    PAUSED = "paused", "Paused"
    CANCELLED = "cancelled", "Cancelled"


Kind_co = TypeVar("Kind_co", bound="Errand", covariant=True)


class ErrandQuerySet(models.QuerySet[Kind_co]):
    def free(self) -> Self:
        """Errands that a worker may claim: unclaimed, or with an expired lease."""
        lost = Q(state=ErrandState.ASKING, taken_until__lte=timezone.now())
        return self.filter(Q(state=ErrandState.WAITING) | lost)

    def neglected(self) -> list[int]:
        """Return the ids of some errands that a worker may claim, after failing those that were
        started too often."""
        self.free().filter(attempts__gte=MOST_ATTEMPTS).update(
            state=ErrandState.FAILED, message=LOST_MESSAGE
        )
        return list(self.free().values_list("pk", flat=True)[:MOST_NEGLECTED])

    def in_progress(self) -> Self:
        """Return errands that a worker is processing."""
        return self.filter(state=ErrandState.ASKING, taken_until__gt=timezone.now())


class Errand(models.Model):
    """A request in progress. `message` says why it failed, for the person who requested it.

    A row written without a state already has its answer.
    """

    state = models.CharField(
        max_length=10, choices=ErrandState, default=ErrandState.DONE, db_default="done"
    )
    message = models.CharField(max_length=1000, blank=True, db_default="")
    attempts = models.SmallIntegerField(
        default=0, db_default=0, help_text="How often a worker started it."
    )
    taken_until = models.DateTimeField(
        null=True, blank=True, help_text="After that, another worker may claim it."
    )
    wanted_at = models.DateTimeField(db_default=Now())

    # The lookup of the errand's project.
    PROJECT = ""

    objects = ErrandQuerySet.as_manager()

    class Meta:
        abstract = True

    @property
    def is_open(self) -> bool:
        return self.state in (ErrandState.WAITING, ErrandState.ASKING)

    @property
    def has_failed(self) -> bool:
        return self.state == ErrandState.FAILED


class StepsRequest(Errand):
    """A request for a judge's model to write evaluation steps, which become a version of the
    criterion's, or a rubric's items, which people edit before they save them."""

    PROJECT = "criterion__project_id"

    criterion = models.ForeignKey(
        "Criterion", on_delete=models.CASCADE, related_name="steps_requests"
    )
    judge = models.ForeignKey("Judge", on_delete=models.CASCADE, related_name="steps_requests")
    steps = models.ForeignKey(
        "EvaluationSteps", on_delete=models.SET_NULL, null=True, related_name="+"
    )
    is_for_items = models.BooleanField(default=False, db_default=False)
    items_text = models.TextField(
        blank=True, default="", db_default="", help_text="Lines, until the criterion is saved."
    )

    class Meta:
        ordering = ("pk",)
        constraints = (
            models.UniqueConstraint(
                fields=("criterion", "judge", "is_for_items"), name="steps_request_once"
            ),
        )

    def __str__(self) -> str:
        return f"{self.what} for {self.criterion} by {self.judge}"

    @property
    def what(self) -> str:
        return "items" if self.is_for_items else "evaluation steps"
