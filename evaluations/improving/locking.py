"""Which documents are locked: set aside, so that a change found on the others can be proven."""

import secrets
from collections.abc import Sequence
from typing import Any

import numpy as np
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.utils import timezone

from evaluations.models import LockedDocuments, Project

SHARE = 0.4
LOOKS = 5


def locked_mask(locked: LockedDocuments, doc_ids: Sequence[str]) -> np.ndarray:
    """Which of some documents are locked; shape (documents,)."""
    found = (locked.holds(name) for name in doc_ids)
    return np.fromiter(found, dtype=bool, count=len(doc_ids))


def locked_of(project: Project) -> LockedDocuments | None:
    """A project's locked documents, also after they were unlocked."""
    return LockedDocuments.objects.filter(project=project).first()


def lock_documents(
    project: Project,
    *,
    by: Any = None,
    share: float = SHARE,
    looks: int = LOOKS,
    seed: str | None = None,
) -> LockedDocuments:
    """Set a share of a project's documents aside, for good.

    Args:
        by: the user who asks for it.
        seed: for a draw that can be repeated; by default a new one.

    Raises:
        ValidationError: the project has locked documents, or a number is out of range.
    """
    locked = LockedDocuments(
        project=project,
        share=share,
        looks_allowed=looks,
        seed=seed or secrets.token_hex(8),
        locked_by=by,
    )
    locked.full_clean(validate_unique=False)
    try:
        with transaction.atomic():
            locked.save()
    except IntegrityError:
        raise ValidationError(
            "This project has locked documents already. They stay as they are: a new draw would let"
            " in what was learned from the first."
        ) from None
    return locked


def unlock_documents(locked: LockedDocuments, *, by: Any = None) -> None:
    """Open the locked documents; nothing can be proven on them from then on."""
    LockedDocuments.objects.filter(pk=locked.pk, unlocked_at=None).update(
        unlocked_by=by, unlocked_at=timezone.now()
    )
    locked.refresh_from_db()
