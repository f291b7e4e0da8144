"""The site's record of a draw of locked documents: digests of its texts, and the events of the
draw. Both outlive the project, so a copy, or the same texts loaded again, share the draw and its
looks."""

import secrets
from typing import Any

from django.db import connection
from django.utils import timezone

from evaluations.models import LockedDocuments, LockedText, LockEvent, Look, Project
from evaluations.models.changes import note_change
from evaluations.models.improving import EventKind
from geval.statistics.thresholds import LOCKED_DOCUMENTS

COMMAND_LINE = "the command line"
# A document's content: its source, or else its conversation and outputs.
_DIGESTS = """
    SELECT d.id, d.doc_id, d.session, encode(sha256(convert_to(
        CASE WHEN d.source <> '' THEN d.source
             ELSE concat_ws(chr(31), '', v.digest, d.turns_before, o.texts) END,
        'UTF8')), 'hex') AS digest
    FROM evaluations_document d
    LEFT JOIN evaluations_conversation v ON v.id = d.conversation_id
    LEFT JOIN LATERAL (
        SELECT string_agg(text, chr(31) ORDER BY text) AS texts FROM evaluations_candidateoutput
        WHERE document_id = d.id AND d.source = '') o ON true
    WHERE d.project_id = %(project)s
        AND (d.source <> '' OR v.digest IS NOT NULL OR o.texts IS NOT NULL)"""


def name_of(user: Any) -> str:
    """Return the name of the user who acted, or of the command line."""
    return str(user) if user else COMMAND_LINE


def remember(
    locked: LockedDocuments, kind: EventKind, *, by: str, at: Any = None, **content: Any
) -> LockEvent:
    """Record an event of a draw; reports of all its copies on this site may change."""
    event = LockEvent.objects.create(
        draw=locked.draw,
        kind=kind,
        at=at or timezone.now(),
        by=by[:200],
        project=locked.project.slug,
        content=content,
    )
    for project_id in LockedDocuments.objects.filter(draw=locked.draw).values_list(
        "project_id", flat=True
    ):
        note_change(project_id)
    return event


def record(locked: LockedDocuments) -> None:
    """Record a draw with all texts that its project has now. For a draw from before there were
    records, also record its looks."""
    is_new = not locked.draw
    if is_new:
        locked.draw = secrets.token_hex(16)
        LockedDocuments.objects.filter(pk=locked.pk).update(draw=locked.draw)
    if not LockEvent.objects.filter(draw=locked.draw, kind=EventKind.DRAWN).exists():
        remember_draw(locked, by=str(locked.locked_by or ""))
    if is_new:
        for look in locked.looks.select_related(
            "candidate__search__judge", "candidate__search__criterion", "looked_by"
        ):
            remember_look(look)
        if locked.unlocked_at is not None:
            by = str(locked.unlocked_by or "")
            remember(locked, EventKind.UNLOCKED, by=by, at=locked.unlocked_at)
    _record_texts(locked)


def remember_draw(locked: LockedDocuments, *, by: str) -> None:
    """Record a new draw: the values that repeat it."""
    remember(
        locked,
        EventKind.DRAWN,
        by=by,
        at=locked.locked_at,
        seed=locked.seed,
        share=locked.share,
        looks_allowed=locked.looks_allowed,
    )


def remember_look(look: Look) -> None:
    """Record a look: what was tested, and the result."""
    search = look.candidate.search
    remember(
        look.locked,
        EventKind.LOOK,
        by=look.person,
        at=look.looked_at,
        judge=search.judge.label,
        criterion=search.criterion.name,
        title=look.candidate.title,
        outcome=look.outcome,
        documents=look.documents,
        candidate=look.value,
        today=look.today,
        gain=look.gain,
        interval=None if look.low is None else [look.low, look.high],
        **({} if look.constant is None else {"constant": look.constant}),
    )


def known_draw(project: Project) -> LockEvent | None:
    """Return the earlier draw that contains most of a project's documents, by the digests of their
    texts; None if it contains fewer than `LOCKED_DOCUMENTS`, which would prove nothing and may
    match by chance."""
    for locked in LockedDocuments.objects.filter(draw="").exclude(project=project):
        record(locked)  # locked before there were records
    with connection.cursor() as cursor:
        cursor.execute(
            f"""SELECT t.draw, count(DISTINCT t.digest) AS texts
                FROM evaluations_lockedtext t JOIN ({_DIGESTS}) d ON d.digest = t.digest
                GROUP BY t.draw HAVING count(DISTINCT t.digest) >= %(least)s
                ORDER BY texts DESC, t.draw LIMIT 1""",
            {"project": project.pk, "least": LOCKED_DOCUMENTS},
        )
        row = cursor.fetchone()
    events = LockEvent.objects.of_draw(row[0]) if row else []
    return next((event for event in events if event.kind == EventKind.DRAWN), None)


def has_texts_of(project: Project, draw: str) -> bool:
    """Whether a project has enough texts of a recorded draw: `LOCKED_DOCUMENTS` of them, or all if
    there are fewer. True for a draw without a record."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"""SELECT count(DISTINCT t.digest), count(DISTINCT d.digest)
                FROM evaluations_lockedtext t LEFT JOIN ({_DIGESTS}) d ON d.digest = t.digest
                WHERE t.draw = %(draw)s""",
            {"project": project.pk, "draw": draw},
        )
        drawn, shared = cursor.fetchone()
    return bool(shared >= min(drawn, LOCKED_DOCUMENTS))


def was_unlocked(draw: str) -> LockEvent | None:
    """Return the event that unlocked a draw's documents in any copy, or None."""
    events = LockEvent.objects.of_draw(draw)
    return next((event for event in events if event.kind == EventKind.UNLOCKED), None)


def exceptions_in(project: Project, lock: LockedDocuments) -> dict[str, bool]:
    """Return the documents of a project for which the rule disagrees with the draw, because they
    had another name then. A text that was both locked and not follows the rule."""
    drawn_as: dict[str, set[bool]] = {}
    for digest, is_locked in LockedText.objects.filter(draw=lock.draw).values_list(
        "digest", "is_locked"
    ):
        drawn_as.setdefault(digest, set()).add(is_locked)
    exceptions: dict[str, bool] = {}
    for unit, digest in _units(project.pk):
        drawn = drawn_as.get(digest, set())
        if len(drawn) == 1 and drawn != {lock.holds(unit)}:
            # In a session with a locked turn, all turns are locked.
            exceptions[unit] = exceptions.get(unit, False) or drawn == {True}
    return exceptions


def _record_texts(locked: LockedDocuments) -> None:
    units = _units(locked.project_id)
    held = locked.among([unit for unit, _digest in units])
    with connection.cursor() as cursor:
        cursor.execute(
            """INSERT INTO evaluations_lockedtext (draw, digest, is_locked)
               SELECT DISTINCT %s, digest, held
               FROM unnest(%s::text[], %s::boolean[]) AS t(digest, held)
               ON CONFLICT DO NOTHING""",
            [locked.draw, [digest for _unit, digest in units], held],
        )


def _units(project_id: int) -> list[tuple[str, str]]:
    """Return each document's unit, which is locked as a whole, and its digest."""
    with connection.cursor() as cursor:
        cursor.execute(_DIGESTS, {"project": project_id})
        return [(session or doc_id, digest) for _pk, doc_id, session, digest in cursor.fetchall()]
