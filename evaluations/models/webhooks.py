"""Webhooks and their messages."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.db.models.functions import Now
from django.utils import timezone

from evaluations.models.project import Project


class WebhookEvent(models.TextChoices):
    RUN_FINISHED = "run.finished", "A run finished"
    CAMPAIGN_FINISHED = "campaign.finished", "A campaign finished"
    TEST = "test", "Test"


class Webhook(models.Model):
    """The address of a user's server. The secret for signing messages is encrypted."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="webhooks")
    url = models.URLField(max_length=500, verbose_name="URL")
    events = models.JSONField(default=list, help_text="Names of WebhookEvent.")
    sealed_secret = models.TextField()
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ("pk",)

    def __str__(self) -> str:
        return self.url

    @property
    def event_labels(self) -> list[str]:
        return [str(label) for value, label in WebhookEvent.choices if value in self.events]


class DeliveryQuerySet(models.QuerySet["WebhookDelivery"]):
    def due(self) -> DeliveryQuerySet:
        """Return messages that should be sent now."""
        now = timezone.now()
        return self.filter(state=WebhookDelivery.State.WAITING, next_at__lte=now).exclude(
            sending_until__gt=now
        )


class WebhookDelivery(models.Model):
    """A message to a webhook: waiting, accepted, or given up. `subject` is the id of what
    finished."""

    class State(models.TextChoices):
        WAITING = "waiting", "Waiting"
        DELIVERED = "delivered", "Delivered"
        GIVEN_UP = "given_up", "Given up"

    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, related_name="deliveries")
    message_id = models.UUIDField(default=uuid.uuid4, editable=False)
    event = models.CharField(max_length=40, choices=WebhookEvent)
    subject = models.BigIntegerField(default=0)
    body = models.TextField(help_text="The JSON that is sent and signed.")
    state = models.CharField(max_length=10, choices=State, default=State.WAITING)
    attempts = models.SmallIntegerField(default=0)
    next_at = models.DateTimeField(db_default=Now())
    sending_until = models.DateTimeField(
        null=True, help_text="While a worker sends it; after that, another may."
    )
    answer = models.CharField(
        max_length=300, blank=True, help_text="The last response, or why there was none."
    )
    created_at = models.DateTimeField(db_default=Now())

    objects = DeliveryQuerySet.as_manager()

    class Meta:
        ordering = ("-pk",)
        verbose_name_plural = "webhook deliveries"
        indexes = (
            models.Index(
                fields=("next_at",), condition=models.Q(state="waiting"), name="delivery_due"
            ),
            models.Index(fields=("webhook", "event", "subject"), name="delivery_by_subject"),
        )

    def __str__(self) -> str:
        return f"{self.event} to {self.webhook}"
