"""Campaigns that are open to everybody with a link, and their participants."""

from __future__ import annotations

from typing import Any

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models.functions import Now

from annotations.models.campaigns import Campaign
from annotations.models.people import Annotator


class OpenLink(models.Model):
    """The open link to a campaign, `/c/ADDRESS`, with the settings for everybody who follows it.

    `before` and `after` are short questions, as `geval.texts.short_questions` reads them. A copy
    from an archive has no address until its owner chooses one.
    """

    campaign = models.OneToOneField(Campaign, on_delete=models.CASCADE, related_name="open_link")
    address = models.SlugField(max_length=60, unique=True, null=True)  # noqa: DJ001 (NULL: none yet)
    title = models.CharField(max_length=200)
    consent = models.TextField(max_length=20_000)
    is_open = models.BooleanField(default=True, db_default=True)
    people = models.PositiveIntegerField(
        default=100, validators=[MinValueValidator(1), MaxValueValidator(100_000)]
    )
    items_each = models.PositiveIntegerField(
        default=20, validators=[MinValueValidator(1), MaxValueValidator(10_000)]
    )
    minutes = models.PositiveIntegerField(
        default=60, validators=[MinValueValidator(1), MaxValueValidator(10_080)]
    )
    skip_percent = models.PositiveIntegerField(
        default=20, db_default=20, validators=[MaxValueValidator(100)]
    )
    per_address = models.PositiveIntegerField(
        default=3, db_default=3, validators=[MinValueValidator(1), MaxValueValidator(100_000)]
    )
    before = models.JSONField(default=list, blank=True)
    after = models.JSONField(default=list, blank=True)
    banned = models.JSONField(default=list, blank=True)
    amount = models.DecimalField(
        max_digits=8, decimal_places=2, default=0, validators=[MinValueValidator(0)]
    )
    pays_by_item = models.BooleanField(default=False, db_default=False)
    amount_screened = models.DecimalField(
        max_digits=8, decimal_places=2, default=0, validators=[MinValueValidator(0)]
    )
    bonus = models.DecimalField(
        max_digits=8, decimal_places=2, default=0, validators=[MinValueValidator(0)]
    )
    bonus_percent = models.PositiveIntegerField(default=100, validators=[MaxValueValidator(100)])
    done_code = models.CharField(max_length=100, blank=True, default="")
    screened_code = models.CharField(max_length=100, blank=True, default="")
    incomplete_code = models.CharField(max_length=100, blank=True, default="", db_default="")
    returned_code = models.CharField(max_length=100, blank=True, default="")
    done_url = models.URLField(max_length=500, blank=True, default="")
    screened_url = models.URLField(max_length=500, blank=True, default="")
    incomplete_url = models.URLField(max_length=500, blank=True, default="", db_default="")
    returned_url = models.URLField(max_length=500, blank=True, default="")

    class Meta:
        ordering = ("pk",)

    def __str__(self) -> str:
        return self.title


class ParticipantState(models.TextChoices):
    CONSENTED = "consented", "Agreed, not started"
    ACTIVE = "active", "Working"
    DONE = "done", "Done"
    INCOMPLETE = "incomplete", "Incomplete"
    SCREENED = "screened", "Screened out"
    RETURNED = "returned", "Returned"
    TIMED_OUT = "timed_out", "Timed out"
    BANNED = "banned", "Banned"


class ScreenedFor(models.TextChoices):
    """Why a participant was screened out, or is incomplete."""

    FULL = "full", "no places left"
    GROUP = "group", "their group is full or not wanted"
    PRACTICE = "practice", "below the pass mark in practice"
    ITEMS = "items", "no items left"
    SKIPS = "skips", "too many skipped items"
    SPEED = "speed", "answers faster than reading"


# States that occupy a place of the link.
IN_A_PLACE = (ParticipantState.ACTIVE, ParticipantState.DONE)


class ParticipantQuerySet(models.QuerySet["Participant"]):
    def in_places(self) -> ParticipantQuerySet:
        return self.filter(state__in=IN_A_PLACE)

    def overdue(self) -> ParticipantQuerySet:
        """Return the participants whose time is over, by the database's clock."""
        return self.filter(state=ParticipantState.ACTIVE, until__lt=Now())


class Participant(models.Model):
    """A person who agreed to take part through an open link; nothing is stored about people who did
    not.

    Personal data are `external_id`, `study` and `session` as the panel sent them, and the answers
    `before` and `after`, keyed by the text of the question. Ratings are stored under the
    `annotator`, whose name reveals nothing about the person. A removed id is NULL. `origin` is a
    keyed digest of the network address of a person without a panel's id, while they hold a place.
    """

    link = models.ForeignKey(
        OpenLink, on_delete=models.CASCADE, related_name="participants", db_index=False
    )
    annotator = models.OneToOneField(
        Annotator, on_delete=models.CASCADE, null=True, related_name="participant"
    )
    source = models.CharField(max_length=20)
    external_id = models.CharField(max_length=200, null=True)  # noqa: DJ001 (NULL: removed)
    study = models.CharField(max_length=200, blank=True, default="")
    session = models.CharField(max_length=200, blank=True, default="")
    origin = models.CharField(max_length=64, blank=True, default="", db_default="")
    state = models.CharField(
        max_length=10, choices=ParticipantState, default=ParticipantState.CONSENTED
    )
    screened_for = models.CharField(max_length=10, choices=ScreenedFor, blank=True, default="")
    before = models.JSONField(default=dict)
    after = models.JSONField(default=dict)
    consented_at = models.DateTimeField(db_default=Now())
    started_at = models.DateTimeField(null=True)
    until = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)

    objects = ParticipantQuerySet.as_manager()

    class Meta:
        ordering = ("pk",)
        constraints = (
            models.UniqueConstraint(
                fields=("link", "source", "external_id"), name="participant_once_per_source"
            ),
        )
        indexes = (
            models.Index(fields=("link", "state"), name="participant_states"),
            models.Index(
                fields=("until",),
                condition=models.Q(state="active"),
                name="participant_overdue",
            ),
        )

    def __str__(self) -> str:
        return f"participant {self.pk}"

    @property
    def is_over(self) -> bool:
        return self.state not in (ParticipantState.CONSENTED, ParticipantState.ACTIVE)

    @property
    def name(self) -> str:
        """The annotator's name: unique on the site, and unrelated to the person."""
        return f"participant {self.pk}"

    def answers(self) -> list[tuple[str, str, Any]]:
        """Return when a question was asked, its text and the answer, in the order of the questions,
        because the database keeps no key order."""
        answers: list[tuple[str, str, Any]] = []
        for when in ("before", "after"):
            given: dict[str, Any] = getattr(self, when)
            asked = [question["text"] for question in getattr(self.link, when)]
            texts = [text for text in asked if text in given]
            texts += [text for text in given if text not in asked]
            answers += [(when, text, given[text]) for text in texts]
        return answers
