"""The site's record of draws of locked documents: digests of their texts, and the events of each
draw. Both outlive the project, so that a later draw of the same texts is known as such."""

import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.contrib.humanize.templatetags.humanize import ordinal
from django.db import connection
from django.utils import timezone

from evaluations.models import LockedDocuments, LockEvent, Look, Project
from evaluations.models.changes import note_change
from evaluations.models.improving import EventKind, text_digest
from geval.statistics.locked_rule import GROUP
from geval.statistics.thresholds import LOCKED_DOCUMENTS
from geval_site.sql import execute_sql, fetch_row

COMMAND_LINE = "the command line"
FETCHED = 500
# Before the promise in the title of a look for a policy.
POLICY = "Policy: "
# A document's content: its source, or else its conversation and outputs. `exact` is how texts were
# known before they were folded, in draws of projects that are deleted since.
_CONTENTS = f"""
    SELECT d.id, d.doc_id, d.session, coalesce(d.metadata->>'{GROUP}', ''), d.source, v.turns,
        d.turns_before, o.texts,
        encode(sha256(convert_to(CASE WHEN d.source <> '' THEN d.source
             ELSE concat_ws(chr(31), '', v.digest, d.turns_before,
                 array_to_string(o.texts, chr(31))) END, 'UTF8')), 'hex') AS exact
    FROM evaluations_document d
    LEFT JOIN evaluations_conversation v ON v.id = d.conversation_id
    LEFT JOIN LATERAL (
        SELECT array_agg(text ORDER BY text) AS texts FROM evaluations_candidateoutput
        WHERE document_id = d.id AND d.source = '') o ON true
    WHERE d.project_id = %s AND (d.source <> '' OR v.digest IS NOT NULL OR o.texts IS NOT NULL)"""


@dataclass(frozen=True)
class EarlierDraws:
    """How many earlier draws on this site have texts of a project, `shared` of its `texts`."""

    draws: int
    shared: int
    texts: int

    def __bool__(self) -> bool:
        return self.draws > 0

    def __str__(self) -> str:
        """As certificates name it; empty for a first draw."""
        if not self.draws:
            return ""
        return f"{ordinal(self.draws + 1)} draw of {self.shared} of these {self.texts} texts"


def name_of(user: Any) -> str:
    """Return the name of the user who acted, or of the command line."""
    return str(user) if user else COMMAND_LINE


def remember(
    locked: LockedDocuments, kind: EventKind, *, by: str, at: Any = None, **content: Any
) -> LockEvent:
    """Record an event of a draw; reports of its project may change."""
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
    record_texts(locked)


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
        **({"by_group": True} if locked.by_group else {}),
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


def earlier_draws(project: Project) -> EarlierDraws:
    """Return what earlier draws have of a project's documents, whatever became of their projects.

    A draw counts from `LOCKED_DOCUMENTS` texts on: fewer prove nothing, and may be there by chance.
    However many others are added to known texts, they stay known.
    """
    lock = LockedDocuments.objects.filter(project=project).first()
    texts = list(_texts(project.pk))
    draws, shared = fetch_row(
        # By the order of texts, as a lock may be older than the texts that were loaded later.
        """WITH own AS (SELECT digest, min(id) AS id FROM evaluations_lockedtext
            WHERE draw = %(own)s GROUP BY digest),
        shared AS (SELECT t.draw, d.document FROM evaluations_lockedtext t
            JOIN unnest(%(documents)s::bigint[], %(digests)s::text[]) d(document, digest)
                ON d.digest = t.digest
            LEFT JOIN own ON own.digest = t.digest
            WHERE t.draw <> %(own)s AND (own.id IS NULL OR t.id < own.id)),
        draws AS (SELECT draw FROM shared GROUP BY draw
            HAVING count(DISTINCT document) >= %(least)s)
        SELECT count(DISTINCT draw), count(DISTINCT document) FROM shared NATURAL JOIN draws""",
        {
            "own": lock.draw if lock else "",
            "documents": [text.document for text in texts for _digest in text.digests],
            "digests": [digest for text in texts for digest in text.digests],
            "least": LOCKED_DOCUMENTS,
        },
    )
    return EarlierDraws(draws, shared, len(texts))


def record_texts(locked: LockedDocuments) -> None:
    """Record the texts that the project of a draw has now."""
    texts = list(_texts(locked.project_id))
    held = locked.among([text.unit for text in texts], [text.group for text in texts])
    execute_sql(
        """INSERT INTO evaluations_lockedtext (draw, digest, is_locked)
           SELECT DISTINCT %s, digest, held
           FROM unnest(%s::text[], %s::boolean[]) AS t(digest, held)
           ON CONFLICT DO NOTHING""",
        [locked.draw, [text.digests[0] for text in texts], held],
    )


@dataclass(frozen=True)
class _Text:
    """A document as draws know it; its unit is locked as a whole, and so is its group."""

    document: int
    unit: str
    group: str
    digests: tuple[str, str]


def _texts(project_id: int) -> Iterator[_Text]:
    with connection.cursor() as cursor:
        cursor.execute(_CONTENTS, [project_id])
        while rows := cursor.fetchmany(FETCHED):
            for pk, doc_id, session, group, source, turns, before, outputs, exact in rows:
                digest = text_digest(source, turns, before, outputs)
                yield _Text(pk, session or doc_id, group, (digest, exact))
