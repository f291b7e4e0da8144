"""Documents, the systems that worked on them, and the candidate outputs they produced."""

from __future__ import annotations

from collections.abc import Sequence

from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchQuery, SearchVector
from django.db import models
from django.db.models import functions
from django.urls import reverse

from evaluations.judging.prompts import Texts
from evaluations.models.project import Project

BEGINNING = 120


class DocumentQuerySet(models.QuerySet["Document"]):
    def rated(self, *, by_people: bool) -> DocumentQuerySet:
        """Documents with an output that somebody rated, or those without any."""
        rated = models.Exists(CandidateOutput.objects.filter(document=models.OuterRef("pk"), ratings__isnull=False))
        return self.filter(rated if by_people else ~rated)

    def metadata_names(self) -> list[str]:
        """The names in the metadata of the first thousand documents that have any."""
        some = list(self.exclude(metadata={}).order_by("pk").values_list("metadata", flat=True)[:1000])
        return sorted({name for metadata in some for name in metadata})

    def with_counts(self, ids: Sequence[int]) -> list[Document]:
        """Some documents in the order of their ids given, each with `output_count`, `human_mean` and `begins`.

        `begins` is the beginning of the source; the texts themselves stay where they are.
        """
        # Two small sums instead of one over outputs times ratings.
        outputs = CandidateOutput.objects.filter(document=models.OuterRef("pk")).order_by().values("document")
        found = (
            self.filter(pk__in=ids)
            .order_by()
            .annotate(
                output_count=models.Subquery(outputs.annotate(n=models.Count("pk")).values("n")),
                human_mean=models.Subquery(outputs.annotate(mean=models.Avg("ratings__score")).values("mean")),
                begins=functions.Left("source", BEGINNING),
            )
            .only("project", "doc_id", "metadata")
        )
        by_id = {document.pk: document for document in found}
        return [by_id[pk] for pk in ids if pk in by_id]

    def matching(self, words: str) -> DocumentQuerySet:
        """Documents whose id, source or outputs hold the words, by PostgreSQL's full text search."""
        query = SearchQuery(words, config="simple", search_type="websearch")
        in_source = self.annotate(source_words=SearchVector("source", config="simple")).filter(source_words=query)
        outputs = CandidateOutput.objects.annotate(words=SearchVector("text", config="simple")).filter(words=query)
        return self.filter(
            models.Q(pk__in=in_source.values("pk"))
            | models.Q(pk__in=outputs.values("document"))
            | models.Q(doc_id__icontains=words)
        )


class Document(models.Model):
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="documents")
    doc_id = models.CharField(max_length=200, help_text="The uploader's own key.")
    source = models.TextField()
    context = models.TextField(blank=True, help_text="What the output was to be grounded in, such as a fact.")
    references = models.JSONField(default=list, blank=True, help_text="A list of reference texts.")
    metadata = models.JSONField(
        default=dict,
        db_default=models.Value({}, models.JSONField()),
        blank=True,
        help_text="What else is said of it: names and short texts.",
    )

    objects = DocumentQuerySet.as_manager()

    class Meta:
        ordering = ("pk",)
        constraints = (models.UniqueConstraint(fields=("project", "doc_id"), name="document_once_per_project"),)
        indexes = (
            GinIndex(SearchVector("source", config="simple"), name="document_words"),
            GinIndex(fields=["metadata"], opclasses=["jsonb_path_ops"], name="document_metadata"),
        )

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
        indexes = (GinIndex(SearchVector("text", config="simple"), name="output_words"),)

    def __str__(self) -> str:
        return f"output {self.pk}"

    def texts(self, *, rival: CandidateOutput | None = None) -> Texts:
        """What judges are shown of it."""
        document = self.document
        references = tuple(document.references)
        return Texts(document.source, self.text, document.context, references, rival.text if rival else "")
