"""Locked documents: set aside, so that a change found on the others can be tested on them."""

import secrets
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from evaluations.corpus.locks.draws import (
    earlier_draws,
    name_of,
    record,
    remember,
    remember_draw,
)
from evaluations.models import LockedDocuments, LockEvent, Project
from evaluations.models.improving import EventKind
from geval.statistics.locked_rule import LOOKS, SHARE, can_lock_groups, new_seed
from geval_site.sql import execute_sql

DRAWS_LOCK = 0x64726177  # any constant: one draw at a time


def locked_of(project: Project) -> LockedDocuments | None:
    """Return a project's locked documents, even after they were unlocked."""
    return LockedDocuments.objects.filter(project=project).first()


@transaction.atomic
def lock_documents(
    project: Project,
    *,
    by: Any = None,
    share: float = SHARE,
    looks: int = LOOKS,
    seed: str | None = None,
    may_redraw: bool = True,
) -> LockedDocuments:
    """Lock a share of a project's documents for good, those of a group together.

    Args:
        by: the user who locks them.
        seed: seed of a repeatable draw; by default a new seed.
        may_redraw: whether documents of earlier draws may be locked, as for people on the page and
            at the command line; certificates name it.

    Raises:
        ValidationError: the project has locked documents, its texts are known from an earlier draw
            and may not be drawn again, or a number is out of range.
    """
    # Of two concurrent draws of the same texts, one is the second.
    execute_sql("SELECT pg_advisory_xact_lock(%s)", [DRAWS_LOCK])
    if locked_of(project) is not None:
        raise ValidationError(
            "This project has locked documents already. They stay as they are: a new draw would let"
            " in what was learned from the first."
        )
    if not may_redraw:
        refuse_second_draw(project)
    _ids, units, groups = project.documents.drawn_as()
    by_group = can_lock_groups(units, groups)
    locked = LockedDocuments(
        project=project,
        by_group=by_group,
        share=share,
        looks_allowed=looks,
        seed=seed or new_seed(units, groups, share=share, by_group=by_group),
        draw=secrets.token_hex(16),
        locked_by=by,
    )
    locked.full_clean(validate_unique=False)
    locked.save()
    remember_draw(locked, by=name_of(by))
    record(locked)
    return locked


def refuse_second_draw(project: Project) -> None:
    """The rule for programs, which can load the same texts as often as they like.

    Raises:
        ValidationError: earlier draws on this site have the project's documents.
    """
    if earlier := earlier_draws(project):
        raise ValidationError(
            f"This is the {earlier} on this site. Only people can use it, on the page, and"
            " certificates name it. Have other documents rated."
        )


def record_loaded(project: Project) -> None:
    """After a load, record what later draws should know of a locked project."""
    locked = locked_of(project)
    if locked is not None:
        record(locked)


def newest_event() -> int:
    """Return the id of the newest lock event, to be read before an import for `as_own_draw`."""
    return LockEvent.objects.aggregate(newest=Max("pk"))["newest"] or 0


def as_own_draw(project: Project, *, after: int) -> None:
    """After an import, make the archive's lock, with its looks and entries of the log, a draw of
    the copy: what happens in one of two copies says nothing of the other.

    Args:
        after: id of the newest lock event before the import.
    """
    locked = locked_of(project)
    if locked is None:
        return
    named, locked.draw = locked.draw, secrets.token_hex(16)
    locked.save(update_fields=["draw"])
    if named:
        LockEvent.objects.filter(draw=named, pk__gt=after, from_archive=True).update(
            draw=locked.draw
        )
    record(locked)


def unlock_documents(locked: LockedDocuments, *, by: Any = None) -> None:
    """Unlock the locked documents; nothing can be proven on them afterwards."""
    record(locked)
    now = timezone.now()
    if LockedDocuments.objects.filter(pk=locked.pk, unlocked_at=None).update(
        unlocked_by=by, unlocked_at=now
    ):
        remember(locked, EventKind.UNLOCKED, by=name_of(by), at=now)
    locked.refresh_from_db()


def lock_in_words(project: Project) -> str:
    """Describe an imported project's lock in a sentence; empty if it has none."""
    locked = locked_of(project)
    if locked is None:
        return ""
    if locked.is_open:
        return "Its documents were locked and opened; nothing can be proven on them."
    earlier = earlier_draws(project)
    return (
        f"About {locked.share:.0%} of its documents are locked, and {locked.looks_used()} of"
        f" {locked.looks_allowed} looks are used{f' ({earlier})' if earlier else ''}."
    )
