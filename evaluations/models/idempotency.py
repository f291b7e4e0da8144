"""Stored responses to API requests with an idempotency key, so that repeating a request has no
further effect."""

from __future__ import annotations

import datetime

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone

# As docs/api.md promises.
KEPT_HOURS = 24
# A process that dies leaves its reservation; no request takes longer than this.
RESERVED_SECONDS = 600


class IdempotentAnswerQuerySet(models.QuerySet["IdempotentAnswer"]):
    def outdated(self) -> IdempotentAnswerQuerySet:
        """Expired responses, and reservations of requests that are no longer being answered."""
        old = timezone.now() - datetime.timedelta(hours=KEPT_HOURS)
        abandoned = timezone.now() - datetime.timedelta(seconds=RESERVED_SECONDS)
        return self.filter(Q(created_at__lt=old) | Q(status=None, created_at__lt=abandoned))


class IdempotentAnswer(models.Model):
    """The response to the first request with a key; without a status while it is in progress."""

    sender = models.CharField(max_length=64, help_text="The token or the user, by its id.")
    key = models.CharField(max_length=200)
    request = models.CharField(max_length=64, help_text="Digest of method, address and body.")
    status = models.SmallIntegerField(null=True)
    content_type = models.CharField(max_length=100, blank=True)
    body = models.BinaryField(default=b"")
    created_at = models.DateTimeField(db_default=Now())

    objects = IdempotentAnswerQuerySet.as_manager()

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("sender", "key"), name="idempotency_key_once"),
        )
        indexes = (models.Index(fields=("created_at",), name="idempotency_age"),)

    def __str__(self) -> str:
        return f"answer {self.pk}"

    @property
    def seconds_reserved(self) -> int:
        """The longest time a repeat has to wait if this request is never answered."""
        gone = (timezone.now() - self.created_at).total_seconds()
        return max(1, round(RESERVED_SECONDS - gone))
