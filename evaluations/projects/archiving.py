"""Archived projects do not change: no calls are made for them, and work in progress is paused."""

from django.db import transaction
from django.utils import timezone

from evaluations.judging.runs.lifecycle import pause_by_person
from evaluations.models import EvaluationRun, Project

CAUSE = "archiving the project"


@transaction.atomic
def archive(project: Project) -> None:
    """Archive a project and pause its runs and searches; its studies wait (`Study.objects.due`)."""
    project.archived_at = timezone.now()
    project.save(update_fields=["archived_at"])
    project.searches.all().pause(CAUSE)
    unfinished = EvaluationRun.objects.unfinished().filter(project=project)
    for run_id in unfinished.values_list("pk", flat=True):
        pause_by_person(run_id, CAUSE)


def restore(project: Project) -> None:
    """Make a project changeable again. Its studies continue; people resume what was paused."""
    project.archived_at = None
    project.save(update_fields=["archived_at"])
