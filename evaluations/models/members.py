"""Invitations to a project, its audit log, and personal settings that apply in all projects."""

from __future__ import annotations

import datetime
from collections.abc import Collection
from functools import reduce
from operator import or_

from django.conf import settings
from django.db import models
from django.db.models.functions import Cast, Now, TruncDate
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

    def containing(self, word: str, actions: Collection[str]) -> AuditQuerySet:
        """Return the entries with a word in the name of who did it, in the detail, in what changed,
        in the address or in the date as pages show it, and those of some actions."""
        date = models.Func(
            TruncDate("created_at"),
            models.Value("FMDD Mon YYYY"),
            function="to_char",
            output_field=models.CharField(),
        )
        columns = ("user_name", "detail", "path", "shown_date", "changed")
        named = (models.Q(**{f"{column}__icontains": word}) for column in columns)
        changed = Cast("changes", models.TextField())
        rows = self.alias(shown_date=date, changed=changed)
        return rows.filter(reduce(or_, named, models.Q(action__in=actions)))

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

    `changes` are lists of a setting's name and its values before and after, as texts; both are null
    where they are not for the log, such as keys.
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
    changes = models.JSONField(default=list, blank=True, db_default=[])
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


class PersonalSettings(models.Model):
    """The choices of a person with an account; without a row nothing was chosen.

    `language` is one of the languages of annotators' pages, "" for the campaign's or the browser's.
    Each `mails_` field says whether they want a kind of mails.
    """

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        primary_key=True,
        related_name="personal_settings",
    )
    language = models.CharField(max_length=10, blank=True, default="", db_default="")
    mails_work = models.BooleanField(default=True, db_default=True)
    mails_deadline = models.BooleanField(default=True, db_default=True)
    mails_digest = models.BooleanField(default=True, db_default=True)

    class Meta:
        verbose_name_plural = "personal settings"

    def __str__(self) -> str:
        return f"settings of {self.user}"


class MailKind(models.TextChoices):
    WORK = "work", "There is work"
    DEADLINE = "deadline", "A campaign ends soon"
    DIGEST = "digest", "The week"


class Mail(models.Model):
    """A mail to a person with an account, one per subject `about` ("campaign 12", "week 2026-48").
    A worker sends it; `tried_at` is when one began, so that no two do at once."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="mails"
    )
    kind = models.CharField(max_length=10, choices=MailKind)
    about = models.CharField(max_length=100)
    campaign = models.BigIntegerField(null=True)
    tries = models.PositiveIntegerField(default=0, db_default=0)
    tried_at = models.DateTimeField(null=True)
    sent_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ("pk",)
        constraints = (models.UniqueConstraint(fields=("user", "kind", "about"), name="mail_once"),)
        indexes = (
            models.Index(
                fields=("tried_at",), condition=models.Q(sent_at=None), name="mail_not_sent"
            ),
        )

    def __str__(self) -> str:
        return f"{self.kind} to {self.user}"
