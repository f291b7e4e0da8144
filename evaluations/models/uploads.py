"""Files on their way into a project: kept until they are loaded or thrown away, with what was said
of them."""

from __future__ import annotations

import datetime

from django.conf import settings
from django.db import models
from django.db.models.functions import Now
from django.urls import reverse
from django.utils import timezone

from evaluations.models.project import Project

# Whoever works on an upload says so every second; after so long without a word it is given up for
# dead.
SILENT_SECONDS = 30
KEPT_DAYS = 7
# A file that ends its worker is not tried for ever.
MOST_ATTEMPTS = 3


class UploadState(models.TextChoices):
    CHOSEN = "chosen", "Not checked yet"
    CHECKING = "checking", "Being checked"
    CHECKED = "checked", "Checked"
    INVALID = "faulty", "Cannot be loaded"  # stored under its first name
    LOADING = "loading", "Being loaded"
    DONE = "done", "Loaded"


# While somebody works on it, or should.
ACTIVE = (UploadState.CHECKING, UploadState.LOADING)


class UploadQuerySet(models.QuerySet["Upload"]):
    def neglected(self) -> UploadQuerySet:
        """Uploads with something to do that nobody does, as far as can be told."""
        silent = timezone.now() - datetime.timedelta(seconds=SILENT_SECONDS)
        return self.filter(models.Q(beat_at=None) | models.Q(beat_at__lt=silent), state__in=ACTIVE)

    def exhausted(self) -> UploadQuerySet:
        """Uploads that were tried often enough: whoever worked on them never came to an end."""
        return self.neglected().filter(attempts__gte=MOST_ATTEMPTS)

    def open(self) -> UploadQuerySet:
        """Uploads that are not loaded yet."""
        return self.exclude(state=UploadState.DONE)

    def forgotten(self) -> UploadQuerySet:
        """Uploads that nobody came back to."""
        return self.open().filter(made_at__lt=timezone.now() - datetime.timedelta(days=KEPT_DAYS))


class Upload(models.Model):
    """Some files that are loaded together. `result` is what loading them would do, or did."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="uploads")
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    made_at = models.DateTimeField(db_default=Now())
    state = models.CharField(max_length=10, choices=UploadState, default=UploadState.CHOSEN)
    about = models.JSONField(default=dict, help_text="The fields of corpus.rows.LoadOptions.")
    result = models.JSONField(null=True)
    errors = models.JSONField(
        default=list, help_text="Objects of file, line, column and message; the first ones."
    )
    error_count = models.BigIntegerField(default=0)
    message = models.CharField(
        max_length=500, blank=True, help_text="Why work on it ended without a result."
    )
    step = models.CharField(max_length=100, blank=True, help_text="What is being done.")
    bytes_read = models.BigIntegerField(default=0)
    beat_at = models.DateTimeField(null=True)
    attempts = models.PositiveSmallIntegerField(
        default=0, help_text="How often work on it began since somebody last asked for it."
    )

    objects = UploadQuerySet.as_manager()

    class Meta:
        ordering = ("-pk",)
        indexes = (models.Index(fields=("project", "-id"), name="upload_by_project"),)

    def __str__(self) -> str:
        return ", ".join(file.name for file in self.files.all()[:3]) or f"upload {self.pk}"

    def get_absolute_url(self) -> str:
        return reverse("evaluations:upload_detail", args=[self.project.slug, self.pk])

    @property
    def is_active(self) -> bool:
        return self.state in ACTIVE

    @property
    def is_silent(self) -> bool:
        """Whether work on it began and nothing was heard of it since."""
        return (
            self.is_active
            and self.beat_at is not None
            and timezone.now() - self.beat_at > datetime.timedelta(seconds=SILENT_SECONDS)
        )

    @property
    def is_parked(self) -> bool:
        """Whether work on it ended without a word about the files, so that it may be tried again as
        it is."""
        return self.state == UploadState.INVALID and self.attempts > 0 and bool(self.message)

    @property
    def size(self) -> int:
        return sum(file.size for file in self.files.all())


class UploadFile(models.Model):
    """One file. `columns` says what its columns are; `preview` is what was seen of it as it
    came."""

    upload = models.ForeignKey(Upload, on_delete=models.CASCADE, related_name="files")
    name = models.CharField(max_length=200)
    size = models.BigIntegerField(help_text="Bytes, as they came.")
    columns = models.JSONField(default=dict)
    preview = models.JSONField(default=dict)

    class Meta:
        ordering = ("pk",)

    def __str__(self) -> str:
        return self.name


class UploadPart(models.Model):
    """A piece of a file's bytes: in the database, where every worker can read it."""

    file = models.ForeignKey(
        UploadFile, on_delete=models.CASCADE, related_name="parts", db_index=False
    )
    number = models.IntegerField()
    content = models.BinaryField()

    class Meta:
        ordering = ("file", "number")
        constraints = (
            models.UniqueConstraint(fields=("file", "number"), name="part_once_per_file"),
        )

    def __str__(self) -> str:
        return f"part {self.number} of file {self.file_id}"


class SavedColumns(models.Model):
    """What the columns of some kind of file are, kept for the next one like it."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="saved_columns")
    name = models.CharField(max_length=100)
    columns = models.JSONField(help_text="Column of the file: what it is.")
    file_columns = models.JSONField(help_text="All columns of the file it was saved for, sorted.")

    class Meta:
        ordering = ("name",)
        verbose_name_plural = "saved columns"
        constraints = (
            models.UniqueConstraint(
                fields=("project", "name"), name="saved_columns_once_per_project"
            ),
        )

    def __str__(self) -> str:
        return self.name
