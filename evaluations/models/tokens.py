"""Tokens that let programs use the HTTP API in a user's name, and responses stored so that
repeating a request has no further effect."""

from __future__ import annotations

import datetime
import hashlib
import secrets
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone

from evaluations.models.project import Project

PREFIX = "geval_"
# A forgotten token ends by itself.
TOKEN_DAYS = 90


class ApiTokenQuerySet(models.QuerySet["ApiToken"]):
    def valid(self, token: str) -> ApiTokenQuerySet:
        """The record of a token that has not expired and whose user is active; none for any other
        text."""
        is_open = Q(expires_at=None) | Q(expires_at__gt=timezone.now())
        return self.filter(is_open, digest=digest_of(token), user__is_active=True)

    def issue(self, *, days: int = TOKEN_DAYS, **fields: Any) -> str:
        """Create a token and return its text, which is not stored.

        Args:
            days: after which it expires; 0 for never.
        """
        token, digest = new_token()
        expires_at = timezone.now() + timedelta(days=days) if days else None
        self.create(digest=digest, expires_at=expires_at, **fields)
        return token


class ApiToken(models.Model):
    """A user's token; only its digest is stored. Without a project it can access all their
    projects."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_tokens"
    )
    name = models.CharField(max_length=100)
    digest = models.CharField(max_length=64, unique=True, editable=False)
    project = models.ForeignKey(
        Project, on_delete=models.CASCADE, null=True, blank=True, related_name="+"
    )
    may_change = models.BooleanField(default=True, help_text="Otherwise it can only read.")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True, blank=True, help_text="Empty for never.")
    last_used_at = models.DateTimeField(null=True, blank=True)

    objects = ApiTokenQuerySet.as_manager()

    class Meta:
        ordering = ("pk",)

    def __str__(self) -> str:
        return f"{self.name} of {self.user}"

    @property
    def is_over(self) -> bool:
        return self.expires_at is not None and self.expires_at <= timezone.now()


def new_token() -> tuple[str, str]:
    """A new token to show once, and its digest to store."""
    token = PREFIX + secrets.token_urlsafe(32)
    return token, digest_of(token)


def digest_of(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).hexdigest()


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
