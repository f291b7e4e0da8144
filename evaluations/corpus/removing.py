"""Taking texts and criteria out of a project: only what nothing stands on; otherwise what does is
said."""

from collections.abc import Sequence

from django.db import connection, transaction

from annotations.models import Campaign
from evaluations.changes import note_change
from evaluations.corpus.dependents import said_standing, standing_on_outputs
from evaluations.models import CandidateOutput, Criterion, Document, Project, RunCriterion, Score


class StandingError(Exception):
    """Something cannot be removed; the message says what stands on it, and what to do."""


@transaction.atomic
def remove_document(document: Document) -> None:
    """Remove a document with its outputs.

    Raises:
        StandingError: something stands on one of its outputs.
    """
    _lock(document.project)
    outputs = list(document.outputs.values_list("pk", flat=True))
    _refuse_if_standing(f"Document {document.doc_id}", outputs)
    document.delete()
    note_change(document.project_id)


@transaction.atomic
def remove_output(output: CandidateOutput) -> None:
    """Remove one system's output for a document.

    Raises:
        StandingError: something stands on it.
    """
    project = output.document.project
    _lock(project)
    _refuse_if_standing(
        f"The output of {output.system.name} for document {output.document.doc_id}", [output.pk]
    )
    output.delete()
    note_change(project.pk)


@transaction.atomic
def remove_criterion(criterion: Criterion) -> None:
    """Remove a criterion with its evaluation steps.

    Raises:
        StandingError: somebody rated or judged by it, or a run or campaign is about it.
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
    """No upload comes in between looking and removing."""
    Project.objects.select_for_update().get(pk=project.pk)


def _refuse_if_standing(subject: str, outputs: Sequence[int]) -> None:
    if outputs:
        with connection.cursor() as cursor:
            # Whoever is about to rate or judge one of them waits, and then finds it gone.
            cursor.execute(
                "SELECT 1 FROM evaluations_candidateoutput WHERE id = ANY(%s) FOR UPDATE",
                [list(outputs)],
            )
        _refuse(subject, standing_on_outputs(outputs))


def _refuse(subject: str, counts: dict[str, int]) -> None:
    if counts:
        raise StandingError(
            f"{subject} stays: {said_standing(counts)} stand on it, and would lose their meaning. "
            "Reports can leave it out by their filters."
        )
