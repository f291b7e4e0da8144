"""Which kind of writer a system is, and of which family of models systems and judges are: what
biases are measured by."""

from collections.abc import Iterable

from django.db import transaction

from evaluations.models import Judge, Project, System
from evaluations.models.noted_changes import note_change


@transaction.atomic
def keep_families(
    project: Project, *, systems: Iterable[System] = (), judges: Iterable[Judge] = ()
) -> None:
    """Store what was changed of them; reports read everything again. Scores stay as they are, so
    judges that runs have used are changed too."""
    for system in systems:
        system.save(update_fields=["kind", "family"])
    for judge in judges:
        judge.save(update_fields=["family"])
    note_change(project.pk)
