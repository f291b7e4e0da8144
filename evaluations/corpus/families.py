"""The kind of writer of each system, and the model family of systems and judges, by which biases
are measured."""

from collections.abc import Iterable

from django.db import transaction

from evaluations.models import Judge, Project, System
from evaluations.models.changes import note_change


@transaction.atomic
def keep_families(
    project: Project, *, systems: Iterable[System] = (), judges: Iterable[Judge] = ()
) -> None:
    """Store changed families and kinds, after which reports read everything again. Scores are
    unchanged, so judges that runs have used may be edited too."""
    for system in systems:
        system.save(update_fields=["kind", "family"])
    for judge in judges:
        judge.save(update_fields=["family"])
    note_change(project.pk)
