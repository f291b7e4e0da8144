"""Share links, which open reports without signing in, and immutable snapshots of reports."""

from __future__ import annotations

import hashlib
import secrets

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone

from evaluations.models.project import Project

# 192 bits, which nobody can guess.
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
    with_texts = models.BooleanField(
        default=False,
        db_default=False,
        help_text="Whether sources, outputs and what judges said can be read through it.",
    )
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


class ReportSnapshotQuerySet(models.QuerySet["ReportSnapshot"]):
    def listed(self) -> ReportSnapshotQuerySet:
        """Return snapshots without their frozen content, which may be megabytes; `has_page` says
        whether there is a page."""
        has_page = models.Case(
            models.When(page="", then=False), default=True, output_field=models.BooleanField()
        )
        return (
            self.select_related("made_by", "project")
            .defer("content", "page")
            .annotate(has_page=has_page)
        )


class ReportSnapshot(models.Model):
    """An immutable copy of a report: its JSON, whose SHA-256 publications can cite, and its page as
    a separate file."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="snapshots")
    sha256 = models.CharField(max_length=64)
    renamed_sha256 = models.CharField(
        max_length=64,
        blank=True,
        db_default="",
        help_text="Of the content since a person who left was renamed in it; empty: never.",
    )
    content = models.TextField()
    page = models.TextField(
        blank=True,
        db_default="",
        help_text="HTML as it was shown, without scripts or links; empty for older snapshots.",
    )
    query = models.TextField(blank=True)
    note = models.CharField(max_length=300, blank=True)
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    objects = ReportSnapshotQuerySet.as_manager()

    class Meta:
        ordering = ("-pk",)
        constraints = (models.UniqueConstraint(fields=("project", "sha256"), name="snapshot_once"),)

    def __str__(self) -> str:
        return self.sha256[:12]

    def get_absolute_url(self) -> str:
        return reverse("evaluations:snapshot_detail", args=[self.project.slug, self.pk])

    @property
    def is_intact(self) -> bool:
        """Whether the content is unchanged, except for names of people who left."""
        digest = hashlib.sha256(self.content.encode()).hexdigest()
        return digest == (self.renamed_sha256 or self.sha256)
