"""Projects: workspaces with members, to which everything else belongs."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import IntegrityError, models, transaction
from django.urls import reverse
from django.utils.crypto import get_random_string
from django.utils.text import slugify
from django.utils.translation import gettext_noop as _

from geval.texts.formatting.kinds import (
    CODE_LANGUAGES,
    LABELS,
    FieldFormat,
    Formats,
    TextFormat,
    is_language,
)

# Django's usual length of short names.
SLUG_LENGTH = 50
# A million endings, so that few are taken already.
RANDOM_LENGTH = 4
RANDOM_LETTERS = "abcdefghijkmnpqrstuvwxyz23456789"  # without letters that look alike


FORMATS = [(kind.value, label) for kind, label in LABELS.items()]


def check_language(name: str) -> None:
    """Raise ValidationError unless the name is that of a language."""
    if not is_language(name):
        raise ValidationError(
            f"{name!r} is not the code of a language; write one such as ar, ja or zh-Hant."
        )


def format_field(text: str) -> models.CharField[str, str]:
    """Return the column that says how a project's sources, outputs or references are shown."""
    return models.CharField(
        f"format of {text}",
        max_length=20,
        choices=FORMATS,
        default=TextFormat.PLAIN.value,
        db_default=TextFormat.PLAIN.value,
    )


def free_slug(name: str) -> str:
    """Return a free short name similar to a name, with random letters only if another project has
    it. Guessing names therefore reveals which are taken, and nothing else."""
    readable = slugify(name)[: SLUG_LENGTH - RANDOM_LENGTH - 1].strip("-_") or "project"
    slug = readable
    while Project.objects.filter(slug=slug).exists():
        slug = f"{readable}-{get_random_string(RANDOM_LENGTH, RANDOM_LETTERS)}"
    return slug


class Role(models.TextChoices):
    OWNER = "owner", _("Owner")
    RESEARCHER = "researcher", _("Researcher")
    ANNOTATOR = "annotator", _("Annotator")
    VIEWER = "viewer", _("Viewer")


class ProjectQuerySet(models.QuerySet["Project"]):
    def seen_by(self, user: Any) -> ProjectQuerySet:
        """Return projects of which the user is a member; this applies to site administrators
        too."""
        if not user.is_authenticated:
            return self.none()
        return self.filter(memberships__user=user)

    def deleted(self) -> ProjectQuerySet:
        """Return deleted projects whose rows workers have yet to remove."""
        return self.filter(deleted_at__isnull=False)

    def make(self, name: str, description: str, *, owner_id: int, slug: str = "") -> Project:
        """Create a user's project, with a free short name if none is given.

        Raises:
            ValidationError: another project has the given short name.
        """
        wanted = slug
        while True:
            # Two people may choose the same name at once: the second retries.
            slug = wanted or free_slug(name)
            try:
                with transaction.atomic():
                    project = self.create(slug=slug, name=name, description=description)
                    Membership.objects.create(project=project, user_id=owner_id, role=Role.OWNER)
            except IntegrityError:
                if not self.filter(slug=slug).exists():
                    raise
                if wanted:
                    raise ValidationError(
                        {"slug": f"The short name {wanted!r} is taken; choose another one."}
                    ) from None
            else:
                return project


class Project(models.Model):
    slug = models.SlugField(
        unique=True,
        max_length=SLUG_LENGTH,
        help_text="The short name in addresses and commands.",
    )
    name = models.CharField(max_length=200)
    description = models.TextField(blank=True)
    guidelines = models.TextField(blank=True, help_text="What annotators should know, in Markdown.")
    created_at = models.DateTimeField(auto_now_add=True)
    archived_at = models.DateTimeField(
        null=True, blank=True, help_text="When it was archived; archived projects do not change."
    )
    deleted_at = models.DateTimeField(
        null=True, blank=True, help_text="When it was deleted; what it holds is being removed."
    )
    source_format = format_field("sources")
    output_format = format_field("outputs")
    reference_format = format_field("references")
    code_language = models.CharField(
        max_length=20,
        choices=[("", "Unknown: without colours"), *CODE_LANGUAGES.items()],
        blank=True,
        db_default="",
        help_text="For texts that are shown as code.",
    )
    text_language = models.CharField(
        "language of the texts",
        max_length=35,
        blank=True,
        db_default="",
        validators=[check_language],
        help_text=(
            "Such as ar, ja or zh-Hant: screen readers pronounce, and browsers break lines, by it."
            " A document's metadata “lang” comes first."
        ),
    )
    members = models.ManyToManyField(
        settings.AUTH_USER_MODEL, through="Membership", related_name="projects"
    )

    # The counts of `evaluations.models.sizes`.
    document_count: int
    system_count: int
    output_count: int

    objects = ProjectQuerySet.as_manager()

    class Meta:
        ordering = ("name", "pk")

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("evaluations:project_detail", args=[self.slug])

    @property
    def formats(self) -> Formats:
        """How the project's texts are shown."""

        def of(kind: str) -> FieldFormat:
            return FieldFormat(TextFormat(kind), self.code_language, self.text_language)

        return Formats(of(self.source_format), of(self.output_format), of(self.reference_format))


class Membership(models.Model):
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships"
    )
    role = models.CharField(max_length=20, choices=Role)

    class Meta:
        constraints = (models.UniqueConstraint(fields=("project", "user"), name="membership_once"),)

    def __str__(self) -> str:
        return f"{self.user} is {self.role} of {self.project}"
