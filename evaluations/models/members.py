"""Invitations to a project, and its audit log."""

from __future__ import annotations

import datetime

from django.conf import settings
from django.db import models
from django.db.models.functions import Now
from django.utils import timezone

from evaluations.models.project import Membership, Project, Role

INVITATION_DAYS, MOST_INVITATION_DAYS = 14, 90


def _in_two_weeks() -> datetime.datetime:
    return timezone.now() + datetime.timedelta(days=INVITATION_DAYS)


class InvitationQuerySet(models.QuerySet["Invitation"]):
    def open(self) -> InvitationQuerySet:
        """Return valid invitations: unused, not expired, and by a person who may still invite
        people."""
        makers = Membership.objects.filter(
            project=models.OuterRef("project"),
            user=models.OuterRef("made_by"),
            role=Role.OWNER,
            user__is_active=True,
        )
        unused = self.filter(revoked_at=None, accepted_at=None, expires_at__gt=timezone.now())
        return unused.filter(models.Exists(makers))


class Invitation(models.Model):
    """A link that lets one person join a project. Only the token's digest is stored."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="invitations")
    role = models.CharField(max_length=20, choices=Role)
    digest = models.CharField(max_length=64, unique=True)
    note = models.CharField(
        max_length=200, blank=True, help_text="Whom it is for, in the owner's words."
    )
    address = models.EmailField(blank=True, default="", db_default="")
    mailed_at = models.DateTimeField(null=True, blank=True)
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    created_at = models.DateTimeField(db_default=Now())
    expires_at = models.DateTimeField(default=_in_two_weeks)
    revoked_at = models.DateTimeField(null=True, blank=True)
    accepted_at = models.DateTimeField(null=True, blank=True)
    accepted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )

    objects = InvitationQuerySet.as_manager()

    class Meta:
        ordering = ("-pk",)

    def __str__(self) -> str:
        return f"{self.get_role_display()} of {self.project}"


class AuditQuerySet(models.QuerySet["AuditEntry"]):
    """Entries of the audit log."""

    def note_by_site(self, project_id: int | None, action: str, detail: str) -> AuditEntry:
        """Record what the site did automatically, according to its settings."""
        return self.create(
            project_id=project_id,
            user_name=AuditEntry.THE_SITE,
            action=action,
            path="",
            detail=detail[:300],
        )


class AuditEntry(models.Model):
    """A change or refused change: who, when, by which page or endpoint, and of what.

    Entered values are not stored.
    """

    THE_SITE = "geval_site"

    project = models.ForeignKey(
        Project, on_delete=models.CASCADE, null=True, related_name="audit_entries"
    )
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    user_name = models.CharField(max_length=150, help_text="As it was then.")
    action = models.CharField(max_length=100, help_text="Name of the page or endpoint.")
    path = models.CharField(max_length=500)
    detail = models.CharField(max_length=300, blank=True)
    by_api = models.BooleanField(default=False)
    refused = models.BooleanField(default=False, help_text="It was refused and changed nothing.")
    address = models.CharField(max_length=45, blank=True, help_text="Where the request came from.")
    created_at = models.DateTimeField(db_default=Now())

    objects = AuditQuerySet.as_manager()

    class Meta:
        ordering = ("-pk",)
        verbose_name_plural = "audit entries"
        indexes = (
            models.Index(fields=("project", "-id"), name="audit_by_project"),
            models.Index(
                fields=("project", "created_at"),
                condition=models.Q(refused=True),
                name="audit_refused",
            ),
        )

    def __str__(self) -> str:
        return f"{self.user_name}: {self.action}"
