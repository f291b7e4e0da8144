"""Remove texts and criteria that nothing depends on, or report what depends on them."""

from collections.abc import Sequence

from django.db import connection, transaction

from annotations.models import Campaign
from evaluations.corpus.dependents import count_dependents, describe_dependents
from evaluations.models import CandidateOutput, Criterion, Document, Project, RunCriterion, Score
from evaluations.models.changes import note_change


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
        with connection.cursor() as cursor:
            # Concurrent ratings and scores wait for this lock, and then fail because the output was
            # removed.
            cursor.execute(
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
