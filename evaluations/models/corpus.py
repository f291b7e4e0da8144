"""Documents, the conversations that some of them share, systems, and the candidate outputs that
systems wrote for documents.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import orjson
from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVectorField
from django.db import models
from django.db.models.fields.json import KT
from django.urls import reverse

from evaluations.models.project import Project
from geval.llm.item_texts import Texts
from geval.statistics.locked_rule import GROUP
from geval.texts.turns import ASSISTANT, Turn, transcript, turns_from
from geval_site.sql import fetch_row, fetch_rows

# Only the beginning of the source is read. A document's human mean is the mean over its outputs and
# criteria of their human means; sorting computes the same from arrays.
_LISTED = """
    WITH outputs AS MATERIALIZED (
        SELECT id, document_id FROM evaluations_candidateoutput
            WHERE document_id = ANY (%(ids)s::bigint[])),
    means AS (
        SELECT o.document_id, avg(h.mean) AS mean
        FROM annotations_human_means(ARRAY(
            SELECT id FROM outputs WHERE document_id <> ALL (%(hidden)s::bigint[]))) h
        JOIN outputs o ON o.id = h.output_id
        GROUP BY o.document_id)
    SELECT d.id, d.doc_id, left(d.source, 120), d.metadata,
           (SELECT count(*) FROM outputs o WHERE o.document_id = d.id), m.mean
    FROM unnest(%(ids)s::bigint[]) WITH ORDINALITY AS wanted (id, place)
    JOIN evaluations_document d ON d.id = wanted.id LEFT JOIN means m ON m.document_id = d.id
    ORDER BY wanted.place"""
_BESIDE = """
    SELECT (SELECT max(id) FROM evaluations_document WHERE project_id = %(project)s
        AND id < %(id)s),
           (SELECT min(id) FROM evaluations_document WHERE project_id = %(project)s
               AND id > %(id)s)"""
# The model family of a system or a judge.
FAMILY: dict[str, Any] = {
    "max_length": 60,
    "blank": True,
    "default": "",
    "db_default": "",
    "help_text": "Of models, such as gpt or qwen. Empty: guessed from the name.",
}
# Longer texts are not checked. Their size is known without reading them.
MOST_BLANKS = 1000
IS_BLANK = models.Q(
    models.lookups.LessThanOrEqual(
        models.Func("text", function="octet_length", output_field=models.IntegerField()),
        MOST_BLANKS,
    ),
    text__regex=r"^\s*$",
)


class Conversation(models.Model):
    """The turns of a conversation, identified by their digest. It never changes, so several
    documents can refer to it, each with a different rated turn."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="conversations")
    digest = models.CharField(max_length=64)
    turns = models.JSONField(default=list)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=("project", "digest"), name="conversation_once_per_project"
            ),
        )

    def __str__(self) -> str:
        return f"conversation {self.pk}"

    def read(self) -> tuple[Turn, ...]:
        """Return all of its turns."""
        return turns_from(self.turns)


@dataclass(frozen=True)
class ListedDocument:
    """A row of the list of documents; `begins` is the beginning of its source."""

    pk: int
    doc_id: str
    begins: str
    metadata: dict[str, str]
    output_count: int
    human_mean: float | None


class DocumentQuerySet(models.QuerySet["Document"]):
    def metadata_names(self) -> list[str]:
        """Return the metadata names of the first thousand documents that have metadata."""
        # Plain SQL, so that the planner recognises the index's condition.
        some = list(
            self.extra(where=["NOT (metadata = '{}'::jsonb)"])
            .order_by("pk")
            .values_list("metadata", flat=True)[:1000]
        )
        return sorted({name for metadata in some for name in metadata})

    def listed(self, ids: Sequence[int], *, hidden: Sequence[int] = ()) -> list[ListedDocument]:
        """Return documents in the order of the given ids with what a list shows, without their
        texts.

        Args:
            hidden: ids of documents whose human mean is not shown.
        """
        rows = fetch_rows(_LISTED, {"ids": list(ids), "hidden": list(hidden)})
        # Django expects JSON as text, which its fields parse.
        return [
            ListedDocument(pk, doc_id, begins, orjson.loads(metadata), outputs, mean)
            for pk, doc_id, begins, metadata, outputs, mean in rows
        ]

    def drawn_as(self) -> tuple[list[int], list[str], list[str]]:
        """Return documents' ids, units and groups, by which they are drawn and locked."""
        rows = [
            (pk, session or doc_id, group or "")
            for pk, doc_id, session, group in self.values_list(
                "pk", "doc_id", "session", KT(f"metadata__{GROUP}")
            )
        ]
        ids, units, groups = map(list, zip(*rows, strict=True)) if rows else ([], [], [])
        return ids, units, groups

    def beside(self, document: Document) -> tuple[int | None, int | None]:
        """Return the ids of the documents before and after one in its project."""
        before, after = fetch_row(_BESIDE, {"project": document.project_id, "id": document.pk})
        return before, after

    def matching(self, words: str) -> DocumentQuerySet:
        """Return documents whose source or outputs match the words (full text search), or whose
        name does."""
        # Sources and outputs in one set: two conditions joined by OR would check both for every
        # document.
        matches = self.extra(
            where=[
                """evaluations_document.id IN (
                       SELECT id FROM evaluations_document
                       WHERE evaluations_search_words(source) @@ websearch_to_tsquery('simple', %s)
                       UNION ALL
                       SELECT document_id FROM evaluations_candidateoutput
                       WHERE evaluations_search_words(text) @@ websearch_to_tsquery('simple', %s))
                   OR strpos(evaluations_document.doc_id, %s) > 0"""
            ],
            params=[words] * 3,
        )
        return cast("DocumentQuerySet", matches)


class SearchWords(models.Func):
    """The words of a text for full text search, as a function of the database that migration 0009
    defines.

    A tsvector is limited to a megabyte. If a text has more words, its first 50,000 characters are
    searched.
    """

    function = "evaluations_search_words"
    output_field = SearchVectorField()


class Document(models.Model):
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="documents")
    doc_id = models.CharField(max_length=200, help_text="The uploader's own key.")
    source = models.TextField()
    context = models.TextField(
        blank=True, help_text="What the output should be grounded in, such as a fact."
    )
    references = models.JSONField(default=list, blank=True, help_text="A list of reference texts.")
    metadata = models.JSONField(
        default=dict,
        db_default=models.Value({}, models.JSONField()),
        blank=True,
        help_text="Other information: names and short texts.",
    )
    conversation = models.ForeignKey(
        Conversation,
        on_delete=models.RESTRICT,
        null=True,
        blank=True,
        db_index=False,
        related_name="documents",
        help_text="What was said around the turn that is rated.",
    )
    turns_before = models.PositiveIntegerField(
        default=0,
        db_default=0,
        help_text="How many turns of the conversation come before what is rated.",
    )
    session = models.CharField(
        max_length=200,
        blank=True,
        default="",
        db_default="",
        help_text="What it is a turn of: documents of one session are not independent.",
    )

    objects = DocumentQuerySet.as_manager()

    class Meta:
        ordering = ("pk",)
        # The index contains the id, so that searching names reads only this index.
        constraints = (
            models.UniqueConstraint(
                fields=("project", "doc_id"), include=("id",), name="document_once_per_project"
            ),
        )
        indexes = (
            GinIndex(SearchWords("source"), name="document_words"),
            GinIndex(fields=["metadata"], opclasses=["jsonb_path_ops"], name="document_metadata"),
            models.Index(
                fields=("project", "id"),
                condition=~models.Q(metadata={}),
                name="document_has_metadata",
            ),
            models.Index(
                "conversation",
                condition=models.Q(conversation__isnull=False),
                name="document_conversation",
            ),
        )

    def __str__(self) -> str:
        return self.doc_id

    def get_absolute_url(self) -> str:
        return reverse("evaluations:document_detail", args=[self.project.slug, self.pk])

    @property
    def unit(self) -> str:
        """The unit that is drawn, locked and excluded together: the document's session, or
        itself."""
        return self.session or self.doc_id

    @property
    def group(self) -> str:
        """What it shares with other documents, such as its topic; empty if nothing is stated."""
        return str(self.metadata.get(GROUP, ""))

    def history(self) -> tuple[Turn, ...]:
        """Return the turns before the rated one; none if it is not a conversation."""
        return self._turns[: self.turns_before]

    def rated_turn(self) -> tuple[Turn, ...]:
        """Return the rated turn, if it is part of the conversation."""
        return self._turns[self.turns_before : self.turns_before + 1]

    def later(self) -> tuple[Turn, ...]:
        """Return the turns after the rated one, which no judge sees."""
        return self._turns[self.turns_before + 1 :]

    @property
    def rated_number(self) -> int | None:
        """The number of the rated turn in the file; None for a reply to all turns."""
        rated = self.rated_turn()
        return rated[0].number if rated else None

    @cached_property
    def _turns(self) -> tuple[Turn, ...]:
        return self.conversation.read() if self.conversation else ()

    @property
    def has_own_source(self) -> bool:
        """Whether the source contains more than the preceding conversation."""
        return self.source not in transcript(self.history())


class System(models.Model):
    class Kind(models.TextChoices):
        HUMAN = "human", "Human writer"
        LLM = "llm", "Language model"
        OTHER = "other", "Other"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="systems")
    name = models.CharField(max_length=200, help_text="system_id in uploaded files.")
    kind = models.CharField(max_length=10, choices=Kind, default=Kind.OTHER)
    family = models.CharField(**FAMILY)

    class Meta:
        ordering = ("pk",)
        constraints = (
            models.UniqueConstraint(fields=("project", "name"), name="system_once_per_project"),
        )

    def __str__(self) -> str:
        return self.name


class CandidateOutputQuerySet(models.QuerySet["CandidateOutput"]):
    def of_project(self, project: Project) -> CandidateOutputQuerySet:
        return self.filter(document__project=project)

    def blank(self) -> CandidateOutputQuerySet:
        """Return outputs that are empty or only white space; they have an index of their own."""
        return self.filter(IS_BLANK)


class CandidateOutput(models.Model):
    document = models.ForeignKey(
        Document, on_delete=models.CASCADE, related_name="outputs", db_index=False
    )
    system = models.ForeignKey(System, on_delete=models.CASCADE, related_name="outputs")
    text = models.TextField()
    turns = models.JSONField(
        default=list,
        db_default=models.Value([], models.JSONField()),
        blank=True,
        help_text="The turns that the system wrote, where they are more than a text.",
    )

    objects = CandidateOutputQuerySet.as_manager()

    class Meta:
        ordering = ("document_id", "system_id")
        constraints = (
            models.UniqueConstraint(fields=("document", "system"), name="output_once_per_system"),
        )
        indexes = (
            GinIndex(SearchWords("text"), name="output_words"),
            models.Index(fields=("document",), name="output_blank", condition=IS_BLANK),
        )

    def __str__(self) -> str:
        return f"output {self.pk}"

    @property
    def is_session(self) -> bool:
        """Whether the output is a whole session rather than one turn."""
        return len(self.turns) > 1

    @property
    def said(self) -> tuple[Turn, ...]:
        """The output as turns."""
        return turns_from(self.turns) or (Turn(ASSISTANT, self.text),)

    def texts(self, *, rival: CandidateOutput | None = None) -> Texts:
        """Return the texts that judges see."""
        document = self.document
        references = tuple(document.references)
        return Texts(
            document.source,
            self.text,
            document.context,
            references,
            rival.text if rival else "",
            document.history(),
            turns_from(self.turns),
            turns_from(rival.turns) if rival else (),
        )
