"""Uploads: files that are stored until they are loaded or discarded, and their state."""

from __future__ import annotations

import datetime

from django.conf import settings
from django.db import models
from django.db.models.functions import Now
from django.urls import reverse
from django.utils import timezone

from evaluations.models.project import Project

# A worker reports every second that it is alive; after this much silence it counts as dead.
SILENT_SECONDS = 30
# People may return to an upload after a weekend; its files take space in the database.
KEPT_DAYS = 7
# A file that crashes its worker is not retried for ever.
MOST_ATTEMPTS = 3


class UploadState(models.TextChoices):
    CHOSEN = "chosen", "Not checked yet"
    CHECKING = "checking", "Being checked"
    CHECKED = "checked", "Checked"
    INVALID = "faulty", "Cannot be loaded"  # stored under its first name
    LOADING = "loading", "Being loaded"
    DONE = "done", "Loaded"
    UNDONE = "undone", "Undone"


# States in which a worker processes the upload, or should.
ACTIVE = (UploadState.CHECKING, UploadState.LOADING)


class UploadQuerySet(models.QuerySet["Upload"]):
    def neglected(self) -> UploadQuerySet:
        """Return uploads with work that no worker seems to be doing."""
        silent = timezone.now() - datetime.timedelta(seconds=SILENT_SECONDS)
        return self.filter(models.Q(beat_at=None) | models.Q(beat_at__lt=silent), state__in=ACTIVE)

    def exhausted(self) -> UploadQuerySet:
        """Return uploads whose workers died too often."""
        return self.neglected().filter(attempts__gte=MOST_ATTEMPTS)

    def open(self) -> UploadQuerySet:
        """Return uploads that are not loaded yet."""
        return self.exclude(state__in=(UploadState.DONE, UploadState.UNDONE))

    def forgotten(self) -> UploadQuerySet:
        """Return uploads that have been left for too long."""
        return self.open().filter(made_at__lt=timezone.now() - datetime.timedelta(days=KEPT_DAYS))


class Upload(models.Model):
    """Files that are loaded together. `result` is the result of the dry run or of loading."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="uploads")
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    made_at = models.DateTimeField(db_default=Now())
    state = models.CharField(max_length=10, choices=UploadState, default=UploadState.CHOSEN)
    about = models.JSONField(default=dict, help_text="The fields of LoadOptions.")
    result = models.JSONField(null=True)
    errors = models.JSONField(
        default=list, help_text="Objects of file, line, column, message and value; the first ones."
    )
    error_count = models.BigIntegerField(default=0)
    contents = models.JSONField(null=True, help_text="What loading would give, as LoadContents.")
    leaves_out_errors = models.BooleanField(
        default=False, db_default=False, help_text="Rows with errors are left out and kept aside."
    )
    message = models.CharField(
        max_length=500, blank=True, help_text="Why processing ended without a result."
    )
    step = models.CharField(max_length=100, blank=True, help_text="The current step.")
    bytes_read = models.BigIntegerField(default=0)
    beat_at = models.DateTimeField(null=True)
    attempts = models.PositiveSmallIntegerField(
        default=0, help_text="How often processing started since the last request."
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
    def is_over(self) -> bool:
        """Whether it was loaded, and nothing of it can be changed any more."""
        return self.state in (UploadState.DONE, UploadState.UNDONE)

    @property
    def is_silent(self) -> bool:
        """Whether its worker has been silent for too long."""
        return (
            self.is_active
            and self.beat_at is not None
            and timezone.now() - self.beat_at > datetime.timedelta(seconds=SILENT_SECONDS)
        )

    @property
    def is_asking(self) -> bool:
        """Whether a question about its files must be answered first."""
        return any(file.preview.get("questions") for file in self.files.all())

    @property
    def is_parked(self) -> bool:
        """Whether processing ended without errors in the files, so that it can be retried
        unchanged."""
        return self.state == UploadState.INVALID and self.attempts > 0 and bool(self.message)

    @property
    def size(self) -> int:
        return sum(file.size for file in self.files.all())


class UploadFile(models.Model):
    """One file. `columns` is the meaning of its columns; `preview` was made when it was uploaded;
    `preview["questions"]` are the unanswered questions."""

    upload = models.ForeignKey(Upload, on_delete=models.CASCADE, related_name="files")
    name = models.CharField(max_length=200)
    size = models.BigIntegerField(help_text="Bytes, as uploaded.")
    columns = models.JSONField(default=dict)
    preview = models.JSONField(default=dict)
    corrections = models.JSONField(
        default=dict,
        db_default=models.Value({}, models.JSONField()),
        help_text="Cells that were corrected: line -> column -> text.",
    )
    refused = models.JSONField(
        default=list,
        db_default=models.Value([], models.JSONField()),
        help_text="Rows that are left out: objects of line, cells and reasons.",
    )

    class Meta:
        ordering = ("pk",)

    def __str__(self) -> str:
        return self.name


class UploadPart(models.Model):
    """A part of a file's bytes, in the database, where every worker can read it."""

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
    """What a person changed of the recognised columns of a kind of file, for the next file like
    it."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="saved_columns")
    name = models.CharField(max_length=100)
    columns = models.JSONField(
        help_text="Columns with a meaning other than the recognised one; empty: left out."
    )
    file_columns = models.JSONField(help_text="All columns of the file it was saved for, sorted.")
    saved_at = models.DateTimeField(null=True)

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
