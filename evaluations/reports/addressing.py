"""Outputs that seem to address the judge: possible prompt injection."""

from evaluations.changes import state_of
from evaluations.llm.injection import PATTERN
from evaluations.models import Project
from evaluations.models.corpus import CandidateOutput
from evaluations.reports.memo import remembered_as


def addressing_outputs(project: Project) -> tuple[tuple[str, str], ...]:
    """Documents and systems of the outputs that seem to address the judge."""
    # All texts are searched, so this is kept until the project's outputs change.
    of_corpus = state_of(project.pk).get((None, None))
    return remembered_as("addressing", [project.pk, of_corpus], lambda: _found(project))


def _found(project: Project) -> tuple[tuple[str, str], ...]:
    outputs = (
        CandidateOutput.objects.of_project(project)
        .filter(text__iregex=PATTERN)
        .order_by("document", "system")
    )
    return tuple(outputs.values_list("document__doc_id", "system__name"))
