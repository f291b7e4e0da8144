"""Remove texts and criteria that nothing depends on, or report what depends on them: ratings,
scores and everything else that needs a text unchanged.
"""

from collections.abc import Mapping, Sequence

from django.db import transaction

from annotations.models import Campaign
from evaluations.models import CandidateOutput, Criterion, Document, Project, RunCriterion, Score
from evaluations.models.changes import note_change
from geval_site.sql import execute_sql, fetch_rows

# Kind of record -> its table, and how its rows point to an output `o`.
DEPENDENTS = {
    "ratings": ("annotations_rating", "t.output_id = o.id"),
    "preferences": ("annotations_preference", "o.id IN (t.output_a_id, t.output_b_id)"),
    "marked spans": ("annotations_span", "t.output_id = o.id"),
    "scores": ("evaluations_score", "t.output_id = o.id"),
    "comparisons by judges": ("evaluations_pairscore", "o.id IN (t.output_id, t.rival_id)"),
    "items of runs": ("evaluations_runitem", "o.id IN (t.output_id, t.rival_id)"),
    "items of campaigns": (
        "annotations_campaignitem",
        "t.document_id = o.document_id AND o.id = ANY(t.outputs)",
    ),
}


def _has_dependents() -> str:
    parts = (
        f"EXISTS (SELECT 1 FROM {table} t WHERE {points})" for table, points in DEPENDENTS.values()
    )
    return " OR ".join(parts)


# Whether anything depends on a row `o` of outputs, or on a row `d` of documents.
OUTPUT_HAS_DEPENDENTS = f"({_has_dependents()})"
DOCUMENT_HAS_DEPENDENTS = (
    "EXISTS (SELECT 1 FROM evaluations_candidateoutput o WHERE o.document_id = d.id AND"
    f" {OUTPUT_HAS_DEPENDENTS})"
)


class StillInUseError(Exception):
    """Something cannot be removed; the message says what depends on it, and what to do."""


@transaction.atomic
def remove_document(document: Document) -> None:
    """Remove a document with its outputs.

    Raises:
        StillInUseError: something depends on one of its outputs.
    """
    _lock(document.project)
    outputs = list(document.outputs.values_list("pk", flat=True))
    _refuse_if_used(f"Document {document.doc_id}", outputs)
    conversation = document.conversation
    document.delete()
    if conversation is not None and not conversation.documents.exists():
        conversation.delete()
    note_change(document.project_id)


@transaction.atomic
def remove_output(output: CandidateOutput) -> None:
    """Remove one system's output for a document.

    Raises:
        StillInUseError: something depends on it.
    """
    project = output.document.project
    _lock(project)
    _refuse_if_used(
        f"The output of {output.system.name} for document {output.document.doc_id}", [output.pk]
    )
    output.delete()
    note_change(project.pk)


@transaction.atomic
def remove_criterion(criterion: Criterion) -> None:
    """Remove a criterion with its evaluation steps.

    Raises:
        StillInUseError: somebody rated or judged on it, or a run or campaign uses it.
    """
    _lock(criterion.project)
    counts = {
        "ratings": criterion.ratings.count(),
        "preferences": criterion.preferences.count(),
        "scores": Score.objects.filter(criterion=criterion).count(),
        "runs": RunCriterion.objects.filter(criterion=criterion).count(),
        "campaigns": Campaign.objects.filter(criteria=criterion).count(),
    }
    _refuse(f"Criterion {criterion.name}", {what: count for what, count in counts.items() if count})
    criterion.delete()
    note_change(criterion.project_id)


def _lock(project: Project) -> None:
    """Make uploads wait, so that none is loaded between checking and removing."""
    Project.objects.select_for_update().get(pk=project.pk)


def _refuse_if_used(subject: str, outputs: Sequence[int]) -> None:
    if outputs:
        # Concurrent ratings and scores wait for this lock, and then fail because the output was
        # removed.
        execute_sql(
            "SELECT 1 FROM evaluations_candidateoutput WHERE id = ANY(%s) FOR UPDATE",
            [list(outputs)],
        )
        _refuse(subject, count_dependents(outputs))


def _refuse(subject: str, counts: dict[str, int]) -> None:
    if counts:
        raise StillInUseError(
            f"{subject} was not removed: {describe_dependents(counts)} and would become"
            " meaningless. Use a report's filters to leave it out."
        )


def count_dependents(ids: Sequence[int]) -> dict[str, int]:
    """Return how many records of each kind depend on these outputs, without kinds that have
    none."""
    counted = " UNION ALL ".join(
        f"""SELECT '{what}', count(DISTINCT t.id) FROM evaluations_candidateoutput o JOIN {table} t
            ON {points}
            WHERE o.id = ANY(%(ids)s)"""
        for what, (table, points) in DEPENDENTS.items()
    )
    return {what: count for what, count in fetch_rows(counted, {"ids": list(ids)}) if count}


def describe_dependents(counts: Mapping[str, int]) -> str:
    """Describe the counts, for example "24 ratings, 12 scores and 12 items of runs depend on
    it"."""
    parts = [
        f"{count:,} {what if count != 1 else _singular(what)}" for what, count in counts.items()
    ]
    if len(parts) > 1:
        return f"{', '.join(parts[:-1])} and {parts[-1]} depend on it"
    return f"{parts[0]} {'depends' if set(counts.values()) == {1} else 'depend'} on it"


def _singular(what: str) -> str:
    first, _, rest = what.partition(" ")
    if first == "marked":
        return "marked span"
    return f"{first.removesuffix('s')} {rest}".strip()
