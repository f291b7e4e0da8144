"""Locked documents: set aside, so that a change found on the others can be tested on them."""

import secrets
from typing import Any

from django.core.exceptions import ValidationError
from django.db import connection, transaction
from django.db.models import Max
from django.utils import timezone

from evaluations.corpus.locks.draws import (
    exceptions_in,
    has_texts_of,
    known_draw,
    name_of,
    record,
    remember,
    remember_draw,
    was_unlocked,
)
from evaluations.models import LockedDocuments, LockEvent, Project
from evaluations.models.improving import EventKind
from geval.statistics.locked_rule import LOOKS, SHARE

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
) -> LockedDocuments:
    """Lock a share of a project's documents for good.

    Documents that were locked before, in another project of this site or a deleted one, are locked
    as in that draw, with its remaining looks (`drawn_before`).

    Args:
        by: the user who locks them.
        seed: seed of a repeatable draw; by default a new seed.

    Raises:
        ValidationError: the project has locked documents, they were opened in another project, or
            a number is out of range.
    """
    # Concurrent locks of two copies get the same draw.
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [DRAWS_LOCK])
    if locked_of(project) is not None:
        raise ValidationError(
            "This project has locked documents already. They stay as they are: a new draw would let"
            " in what was learned from the first."
        )
    locked = LockedDocuments(
        project=project,
        share=share,
        looks_allowed=looks,
        seed=seed or secrets.token_hex(8),
        draw=secrets.token_hex(16),
        locked_by=by,
    )
    locked.full_clean(validate_unique=False)
    drawn = known_draw(project)
    if drawn is not None:
        _join(locked, drawn)
    locked.save()
    if drawn is not None:
        remember(locked, EventKind.JOINED, by=name_of(by), at=locked.locked_at)
    else:
        remember_draw(locked, by=name_of(by))
    record(locked)
    return locked


def _join(locked: LockedDocuments, drawn: LockEvent) -> None:
    """Make a lock part of an earlier draw of the same texts."""
    if opened := was_unlocked(drawn.draw):
        raise ValidationError(
            f"These documents were locked before, on {drawn.at:%Y-%m-%d}, and opened on"
            f" {opened.at:%Y-%m-%d}, so nothing can be proven on them any more. Have other"
            " documents rated, in a project of their own."
        )
    locked.draw, locked.seed = drawn.draw, drawn.content["seed"]
    locked.share = drawn.content["share"]
    locked.looks_allowed = drawn.content["looks_allowed"]
    locked.exceptions = exceptions_in(locked.project, locked)


def drawn_before(locked: LockedDocuments) -> str:
    """Say that a lock repeats an earlier draw of the same documents, and how many looks are left;
    empty for a new draw."""
    events = LockEvent.objects.of_draw(locked.draw)
    if not any(event.kind == EventKind.JOINED and event.at == locked.locked_at for event in events):
        return ""
    drawn = next(event for event in events if event.kind == EventKind.DRAWN)
    return (
        f"These documents were locked before, on {drawn.at:%Y-%m-%d}: that draw counts here too,"
        f" and {locked.looks_used()} of its {locked.looks_allowed} looks are used."
    )


def newest_event() -> int:
    """Return the id of the newest lock event, to be read before an import for `lock_as_drawn`."""
    return LockEvent.objects.aggregate(newest=Max("pk"))["newest"] or 0


def lock_as_drawn(project: Project, *, after: int) -> LockedDocuments | None:
    """After an import, record the archive's lock; without one, lock the documents as in an earlier
    draw of their texts on this site, if nobody has unlocked that draw.

    For a draw that the site has recorded, its own record prevails: anybody can write an archive, so
    an archive neither uses up looks nor unlocks such a draw.

    Args:
        after: id of the newest lock event before the import.

    Raises:
        ValidationError: the archive's lock does not match the draw that it names.
    """
    locked = locked_of(project)
    if locked is None:
        drawn = known_draw(project)
        if drawn is None or was_unlocked(drawn.draw):
            return None
        return lock_documents(project)
    events = LockEvent.objects.filter(draw=locked.draw) if locked.draw else LockEvent.objects.none()
    is_known = events.filter(pk__lte=after).exists()
    if is_known:
        events.filter(pk__gt=after, from_archive=True).delete()
    if locked.draw:
        _check_draw(locked)
        locked.exceptions |= exceptions_in(project, locked)
        locked.save(update_fields=["exceptions"])
    record(locked)
    if not is_known:
        LockEvent.objects.filter(draw=locked.draw).update(from_archive=True)
    return locked


def _check_draw(locked: LockedDocuments) -> None:
    """Reject a lock that falsely claims a draw: other numbers would allow more looks, and other
    texts would use the looks of a project that this is no copy of."""
    for event in LockEvent.objects.filter(draw=locked.draw, kind=EventKind.DRAWN):
        for name in ("seed", "share", "looks_allowed"):
            if event.content[name] != getattr(locked, name):
                raise ValidationError(
                    f"Its {name} is {getattr(locked, name)}, but the draw that it names has"
                    f" {event.content[name]}. Export the project again."
                )
    if not has_texts_of(locked.project, locked.draw):
        raise ValidationError(
            "It names a draw that this site knows of other documents. Export the project again."
        )


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
    return drawn_before(locked) or (
        f"About {locked.share:.0%} of its documents are locked, and {locked.looks_used()} of"
        f" {locked.looks_allowed} looks are used."
    )
