"""Tokens that let programs use the HTTP API in a user's name."""

from __future__ import annotations

import hashlib
import secrets
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q
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
