"""Counters of what happened, for monitoring: they only grow, and outlive what they counted."""

from __future__ import annotations

from django.db import models


class CountedEvent(models.TextChoices):
    ITEMS = "items", "Items finished by a judge; the reason says why one failed"
    LEASES_LOST = "leases_lost", "Items claimed again after their worker was lost"
    WEBHOOKS = "webhooks", "Attempts to send a webhook message, by their outcome"


class EventCount(models.Model):
    """How often an event happened. `judge` is an id without a foreign key: a counter that lost
    rows with a project would go down."""

    event = models.CharField(max_length=30, choices=CountedEvent)
    judge = models.BigIntegerField(default=0)
    reason = models.CharField(max_length=50, blank=True, default="")
    count = models.BigIntegerField(default=0)

    class Meta:
        ordering = ("event", "judge", "reason")
        constraints = (
            models.UniqueConstraint(fields=("event", "judge", "reason"), name="event_count_once"),
        )

    def __str__(self) -> str:
        return f"{self.event} {self.judge} {self.reason}: {self.count}"
