"""Versions of a criterion's evaluation steps, written by people and models."""

from django.db import transaction

from evaluations.models import Criterion, EvaluationSteps
from geval.llm.prompts import PromptParts


def prompt_parts(criterion: Criterion) -> PromptParts:
    """Return the parts of a prompt from a criterion's record."""
    return PromptParts(
        criterion=criterion.name,
        scale=criterion.scale,
        definition=criterion.definition,
        introduction=criterion.task_introduction,
        inputs=criterion.inputs,
        prompt_file=criterion.prompt_file,
    )


@transaction.atomic
def store_steps(criterion: Criterion, text: str, *, written_by: str) -> EvaluationSteps:
    """Store a new version of a criterion's steps, unless the newest version has the same text."""
    # Versions are numbered one after another.
    Criterion.objects.select_for_update().get(pk=criterion.pk)
    newest = criterion.newest_steps
    if newest and newest.text == text:
        return newest
    return criterion.steps.create(
        version=newest.version + 1 if newest else 1, text=text, written_by=written_by
    )
