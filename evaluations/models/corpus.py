"""Documents, the systems that worked on them, and the candidate outputs they produced."""

from __future__ import annotations

from django.db import models
from django.urls import reverse

from evaluations.judging.prompts import Texts
from evaluations.models.project import Project


class Document(models.Model):
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="documents")
    doc_id = models.CharField(max_length=200, help_text="The uploader's own key.")
    source = models.TextField()
    context = models.TextField(blank=True, help_text="What the output was to be grounded in, such as a fact.")
    references = models.JSONField(default=list, blank=True, help_text="A list of reference texts.")

    class Meta:
        ordering = ("pk",)
        constraints = (models.UniqueConstraint(fields=("project", "doc_id"), name="document_once_per_project"),)

    def __str__(self) -> str:
        return self.doc_id

    def get_absolute_url(self) -> str:
        return reverse("evaluations:document_detail", args=[self.project.slug, self.pk])


class System(models.Model):
    class Kind(models.TextChoices):
        HUMAN = "human", "Human writer"
        LLM = "llm", "Language model"
        OTHER = "other", "Other"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="systems")
    name = models.CharField(max_length=200, help_text="system_id in uploaded files.")
    kind = models.CharField(max_length=10, choices=Kind, default=Kind.OTHER)

    class Meta:
        ordering = ("pk",)
        constraints = (models.UniqueConstraint(fields=("project", "name"), name="system_once_per_project"),)

    def __str__(self) -> str:
        return self.name


class CandidateOutputQuerySet(models.QuerySet["CandidateOutput"]):
    def of_project(self, project: Project) -> CandidateOutputQuerySet:
        return self.filter(document__project=project)


class CandidateOutput(models.Model):
    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="outputs")
    system = models.ForeignKey(System, on_delete=models.CASCADE, related_name="outputs")
    text = models.TextField()

    objects = CandidateOutputQuerySet.as_manager()

    class Meta:
        ordering = ("document_id", "system_id")
        constraints = (models.UniqueConstraint(fields=("document", "system"), name="output_once_per_system"),)

    def __str__(self) -> str:
        return f"output {self.pk}"

    def texts(self, *, rival: CandidateOutput | None = None) -> Texts:
        """What judges are shown of it."""
        document = self.document
        references = tuple(document.references)
        return Texts(document.source, self.text, document.context, references, rival.text if rival else "")
