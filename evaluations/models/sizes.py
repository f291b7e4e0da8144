"""The numbers of documents, systems, outputs and ratings in projects, and which documents are
rated, for pages that always show them: read once in each process until the project's texts or
ratings change, as `evaluations.models.changes` records."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from django.db.models import Count, Exists, Max, Model, OuterRef

from evaluations.models import CandidateOutput, Document, Project, System
from evaluations.models.changes import ScoreChange
from evaluations.models.seldom import read_seldom
from geval.statistics.types import IntArray

# Values are cached until a change, but only about as long as a person may look at them.
KEPT_SECONDS = 600.0


def with_sizes(projects: Iterable[Project]) -> list[Project]:
    """Return projects with `document_count`, `system_count` and `output_count`, in a handful of
    queries however many projects there are."""
    sized = list(projects)
    documents, outputs = _until_change(
        "texts",
        sized,
        lambda: (
            _counts(Document, "project", sized),
            _counts(CandidateOutput, "document__project", sized),
        ),
    )
    systems = _counts(System, "project", sized)
    for project in sized:
        project.document_count = documents.get(project.pk, 0)
        project.system_count = systems.get(project.pk, 0)
        project.output_count = outputs.get(project.pk, 0)
    return sized


def rating_count(project: Project) -> int:
    """Return how many ratings people gave in a project."""
    count: int = _until_change(
        "ratings", [project], lambda: project.annotators.aggregate(n=Count("ratings"))["n"]
    )
    return count


def rated_documents(project: Project) -> IntArray:
    """Return the ids of documents with a rated output, shape (n,)."""
    has_ratings = CandidateOutput.objects.filter(document=OuterRef("pk"), ratings__isnull=False)
    rated = project.documents.filter(Exists(has_ratings)).order_by().values_list("pk", flat=True)
    ids: IntArray = _until_change("rated", [project], lambda: np.fromiter(rated, np.int64))
    return ids


def _until_change(what: str, projects: list[Project], read: Callable[[], Any]) -> Any:
    """Return `read()`, or its cached value if nothing has changed in the projects since."""
    changes = ScoreChange.objects.filter(project__in=projects, judge=None).order_by("project")
    if what == "texts":
        changes = changes.filter(criterion=None)
    # Marks are read before the values: a concurrent change makes these count as old.
    marks = changes.values_list("project").annotate(Count("pk"), Max("pk"))
    key = (what, *(project.pk for project in projects), *marks)
    return read_seldom(key, read, seconds=KEPT_SECONDS)


def _counts(model: type[Model], of_project: str, projects: list[Project]) -> dict[int, int]:
    rows = model._default_manager.filter(**{f"{of_project}__in": projects}).order_by()
    return dict(rows.values_list(of_project).annotate(Count("pk")))
