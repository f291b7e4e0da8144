"""Share links, which open reports without signing in, and immutable snapshots of reports."""

from __future__ import annotations

import secrets

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone

from evaluations.models.project import Project

TOKEN_BYTES = 24


class ShareLinkQuerySet(models.QuerySet["ShareLink"]):
    def valid(self) -> ShareLinkQuerySet:
        """Links that are neither revoked nor expired."""
        return self.filter(revoked_at=None).filter(
            Q(expires_at=None) | Q(expires_at__gt=timezone.now())
        )


class ShareLink(models.Model):
    """A read-only link to a project's report for anyone with the address. Only the digest is
    stored."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="share_links")
    digest = models.CharField(max_length=64, unique=True)
    query = models.TextField(blank=True, help_text="The view that was shared.")
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    objects = ShareLinkQuerySet.as_manager()

    class Meta:
        ordering = ("-pk",)

    def __str__(self) -> str:
        return f"link {self.pk} to {self.project}"

    @property
    def is_valid(self) -> bool:
        return self.revoked_at is None and (
            self.expires_at is None or self.expires_at > timezone.now()
        )


def new_token() -> str:
    return secrets.token_urlsafe(TOKEN_BYTES)


class ReportSnapshot(models.Model):
    """An immutable copy of a report: its JSON, and its SHA-256, which publications can cite."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="snapshots")
    sha256 = models.CharField(max_length=64)
    content = models.TextField()
    query = models.TextField(blank=True)
    note = models.CharField(max_length=300, blank=True)
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("-pk",)
        constraints = (models.UniqueConstraint(fields=("project", "sha256"), name="snapshot_once"),)

    def __str__(self) -> str:
        return self.sha256[:12]

    def get_absolute_url(self) -> str:
        return reverse("evaluations:snapshot_detail", args=[self.project.slug, self.pk])
