"""Personal settings that apply in all projects, and the mails to people."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models.functions import Now


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
