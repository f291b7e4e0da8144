"""Everything that people answered in campaigns: comments, flags, skips, times, checks, the history
of each answer, owners' reviews, and adjudicators' decisions.

Reports read only the ratings; this includes every answer of every round, also rejected ones.
Answers about locked documents are left out until the last look.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from django.db import connections, transaction

from evaluations.models import Criterion, Project
from evaluations.models.improving import withheld_documents
from evaluations.reports.ratings.human_scores import IN_SIGHT
from evaluations.reports.ratings.pseudonyms import ANNOTATORS, unless_pseudonyms
from geval.files.answers.pairs import with_names

CHUNK = 1_000
ANSWERS = (
    "campaign", "task", "item", "item_kind", "doc_id", "systems", "annotator", "state", "answer",
    "comment", "flagged", "skip_reason", "seconds", "version", "reserved_at", "submitted_at",
    "scores_in_sight", "saw_others_at", "expected", "passed", "changes", "reviews",
    "guidelines_version",
)  # fmt: skip
DECISIONS = (
    "campaign", "task", "item", "doc_id", "systems", "decided_by", "answer", "note", "decided_at",
)  # fmt: skip
_SYSTEMS = """(SELECT array_agg(s.name ORDER BY u.place) FROM unnest({0}) WITH ORDINALITY
        AS u(id, place) JOIN evaluations_candidateoutput o ON o.id = u.id
        JOIN evaluations_system s ON s.id = o.system_id)"""
# An answer has been stored if it has such a state or a history.
KEPT = """(a.state IN ('submitted', 'skipped', 'rejected')
    OR EXISTS (SELECT FROM annotations_review w WHERE w.assignment_id = a.id))"""
_ANSWERS = f"""
    SELECT a.id, c.name, c.kind, i.position, i.kind, d.doc_id, a.shown,
        {_SYSTEMS.format("a.shown")}, n.name, a.state, a.answer::json, a.flagged, a.skip_reason,
        a.seconds, a.version, a.reserved_at, a.submitted_at, {IN_SIGHT}, a.saw_others_at,
        i.expected::json, a.passed,
        (SELECT json_agg(json_build_object('at', h.at, 'before', h.before, 'after', h.after)
            ORDER BY h.id) FROM annotations_answerchange h WHERE h.assignment_id = a.id),
        (SELECT json_agg(json_build_object('at', w.at, 'by', {unless_pseudonyms("w.by_name")},
            'action', w.action, 'reason', w.reason, 'answer', w.answer,
            'skip_reason', w.skip_reason) ORDER BY w.id)
            FROM annotations_review w WHERE w.assignment_id = a.id),
        a.guidelines_version
    FROM annotations_assignment a JOIN annotations_campaign c ON c.id = a.campaign_id
    JOIN annotations_campaignitem i ON i.id = a.item_id
    JOIN evaluations_document d ON d.id = i.document_id
    JOIN {ANNOTATORS} n ON n.id = a.annotator_id
    WHERE c.project_id = %(project)s AND d.id <> ALL(%(hidden)s) AND {KEPT} {{more}}
    ORDER BY a.id"""
_DECISIONS = f"""
    SELECT c.name, c.kind, i.position, d.doc_id, i.outputs, {_SYSTEMS.format("i.outputs")},
        {unless_pseudonyms("coalesce(nullif(t.by_name, ''), u.username, '')")},
        t.answer::json, t.note, t.at
    FROM annotations_decision t JOIN annotations_campaignitem i ON i.id = t.item_id
    JOIN annotations_campaign c ON c.id = i.campaign_id
    JOIN evaluations_document d ON d.id = i.document_id
    LEFT JOIN auth_user u ON u.id = t.user_id
    WHERE c.project_id = %(project)s AND d.id <> ALL(%(hidden)s) {{more}}
    ORDER BY t.id"""


def answer_records(
    project: Project, *, outputs: Sequence[int] | None = None, answers: Sequence[int] | None = None,
    pseudonyms: bool = False,
) -> Iterator[dict[str, Any]]:  # fmt: skip
    """Yield the answers of a project's campaigns in the order in which items were assigned.

    Args:
        outputs: only answers about one of these outputs.
        answers: only the answers with these ids, which the records then include.
    """
    more, parameters = "", parameters_of(project, pseudonyms=pseudonyms)
    if answers is not None:
        more, parameters["answers"] = "AND a.id = ANY(%(answers)s::bigint[])", list(answers)
    if outputs is not None:
        more, parameters["outputs"] = f"{more} AND a.shown && %(outputs)s::bigint[]", list(outputs)
    criteria = dict(Criterion.objects.filter(project=project).values_list("pk", "name"))
    for row in stream_rows(_ANSWERS.format(more=more), parameters):
        pk, *columns, shown, systems, who, state, answer = row[:11]
        flagged, skipped, seconds, version, *others = row[11:]
        reserved_at, submitted_at, in_sight, saw_others, expected, passed, *history = others
        changes, reviews, guidelines = history
        names = dict(zip(shown, systems, strict=True))
        named = with_names(answer, criteria, names) or {}
        values = (
            *columns, systems, who, state,
            {part: value for part, value in named.items() if part not in ("comment", "flagged")},
            named.get("comment", ""), flagged, skipped, seconds, version, reserved_at,
            submitted_at, in_sight, saw_others, with_names(expected, criteria, names), passed,
            [
                {
                    "at": change["at"],
                    "before": with_names(change["before"], criteria, names),
                    "after": with_names(change["after"], criteria, names),
                }
                for change in changes or ()
            ],
            [
                review | {"answer": with_names(review["answer"], criteria, names)}
                for review in reviews or ()
            ],
            guidelines,
        )  # fmt: skip
        record = dict(zip(ANSWERS, values, strict=True))
        yield record if answers is None else {"id": pk, **record}


def decision_records(
    project: Project, *, campaign: int | None = None, pseudonyms: bool = False
) -> Iterator[dict[str, Any]]:
    """Yield adjudicators' decisions, oldest first; the newest about an item counts."""
    more, parameters = "", parameters_of(project, pseudonyms=pseudonyms)
    if campaign is not None:
        more, parameters["campaign"] = "AND i.campaign_id = %(campaign)s", campaign
    criteria = dict(Criterion.objects.filter(project=project).values_list("pk", "name"))
    for *columns, outputs, systems, who, answer, note, at in stream_rows(
        _DECISIONS.format(more=more), parameters
    ):
        named = with_names(answer, criteria, dict(zip(outputs, systems, strict=True)))
        values = (*columns, systems, who, named, note, at)
        yield dict(zip(DECISIONS, values, strict=True))


def parameters_of(project: Project, *, pseudonyms: bool) -> dict[str, Any]:
    """Return what queries of downloads need: `hidden` are documents with withheld ratings."""
    hidden = withheld_documents(project.pk)
    return {"project": project.pk, "hidden": hidden, "pseudonyms": pseudonyms}


def stream_rows(
    query: str, parameters: dict[str, Any], *, chunk: int = CHUNK
) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a query, `chunk` of them in memory."""
    connection = connections["default"]
    with transaction.atomic(), connection.chunked_cursor() as cursor:
        cursor.execute(query, parameters)
        while rows := cursor.fetchmany(chunk):
            yield from rows
