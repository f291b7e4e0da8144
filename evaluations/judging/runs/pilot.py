"""Which documents a pilot uses: a few at random, before a judge is run on all of them.

All pilots of a project draw from the same random order, so two of them (a judge before and after a
change of its criterion) are compared on the same documents.
"""

from collections.abc import Sequence
from itertools import islice
from typing import Any

from django.db import connection

from evaluations.models import LockedDocuments

# Enough for an interval (`INTERVAL_DOCUMENTS`), at a small part of a run's cost.
USUAL_DOCUMENTS = 20
# Rated documents come first: only they show how well a judge agrees with people.
_DRAWN = """
    SELECT d.id, coalesce(nullif(d.session, ''), d.doc_id)
    FROM evaluations_document d
    WHERE d.project_id = %(project)s
      AND EXISTS (SELECT FROM evaluations_candidateoutput o WHERE o.document_id = d.id)
    ORDER BY NOT EXISTS (
               SELECT FROM evaluations_candidateoutput o
               WHERE o.document_id = d.id AND (
                   EXISTS (SELECT FROM annotations_rating g WHERE g.output_id = o.id
                       AND (%(any)s OR g.criterion_id = ANY(%(criteria)s::bigint[])))
                   OR EXISTS (SELECT FROM annotations_preference p WHERE p.output_a_id = o.id
                       AND (%(any)s OR p.criterion_id IS NULL
                            OR p.criterion_id = ANY(%(criteria)s::bigint[]))))),
             md5('pilot ' || d.id), d.id"""


def pilot_outputs(project_id: int, criteria: Sequence[int], *, documents: int) -> list[int]:
    """Return the ids of all outputs of up to `documents` documents, drawn at random, rated ones
    first.

    Locked documents are excluded: changes made after a pilot are tested on them.

    Args:
        criteria: ids of the criteria on which documents must be rated to come first; empty for any.
    """
    locked = LockedDocuments.objects.filter(project=project_id, unlocked_at=None).first()
    with connection.cursor() as cursor:
        given: dict[str, Any] = {
            "project": project_id,
            "criteria": list(criteria),
            "any": not criteria,
        }
        cursor.execute(_DRAWN, given)
        free = (pk for pk, unit in cursor.fetchall() if not (locked and locked.holds(unit)))
        cursor.execute(
            "SELECT id FROM evaluations_candidateoutput WHERE document_id = ANY(%s) ORDER BY id",
            [list(islice(free, documents))],
        )
        return [pk for (pk,) in cursor.fetchall()]
