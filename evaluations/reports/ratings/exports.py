"""Stream ratings and preferences as CSV and JSON Lines in the format that uploads accept, and
answers and decisions of campaigns as stored.

Ratings state the probability with which their output was chosen to be rated on the criterion.
Ratings of locked documents are left out until the last look.
"""

from collections.abc import Iterator
from typing import Any

import orjson

from evaluations.models import Project
from evaluations.reports.ratings.answers import (
    ANSWERS,
    DECISIONS,
    answer_records,
    decision_records,
    parameters_of,
    stream_rows,
)
from evaluations.reports.ratings.human_scores import stated_probabilities
from evaluations.reports.ratings.pseudonyms import ANNOTATORS
from geval.statistics.scales import NOT_APPLICABLE
from geval.texts.spreadsheets import csv_line

RATINGS = (
    "doc_id",
    "system_id",
    "criterion",
    "annotator",
    "score",
    "scores_in_sight",
    "created_at",
    "probability",
    "comment",
    "guidelines_version",
)
PREFERENCES = (
    "doc_id", "system_a", "system_b", "criterion", "annotator", "winner", "strength", "shown_first",
    "scores_in_sight",
    "created_at", "comment", "guidelines_version",
)  # fmt: skip
QUERIES = {
    "ratings": f"""
        SELECT d.doc_id, s.name, c.name, n.name, r.score, r.scores_in_sight,
               r.created_at, coalesce(p.probability, 1), r.comment,
               r.guidelines_version
            FROM annotations_rating r
        LEFT JOIN unnest(%(outputs)s::bigint[], %(criteria)s::bigint[], %(shares)s::float8[])
            AS p(output_id, criterion_id, probability)
            ON p.output_id = r.output_id AND p.criterion_id = r.criterion_id
        JOIN {ANNOTATORS} n ON n.id = r.annotator_id JOIN evaluations_criterion c
            ON c.id = r.criterion_id
        JOIN evaluations_candidateoutput o ON o.id = r.output_id JOIN evaluations_document d
            ON d.id = o.document_id
        JOIN evaluations_system s ON s.id = o.system_id
        WHERE n.kind = 'person' AND d.id <> ALL(%(hidden)s) ORDER BY r.id""",
    "preferences": f"""
        SELECT d.doc_id, sa.name, sb.name, coalesce(c.name, ''), n.name,
               CASE sign(p.value) WHEN 1 THEN 'a' WHEN -1 THEN 'b' ELSE 'tie' END, abs(p.value),
               CASE p.a_was_left WHEN true THEN 'a' WHEN false THEN 'b'
                   ELSE '' END, p.scores_in_sight, p.created_at, p.comment,
               p.guidelines_version
        FROM annotations_preference p JOIN {ANNOTATORS} n ON n.id = p.annotator_id
        LEFT JOIN evaluations_criterion c ON c.id = p.criterion_id
        JOIN evaluations_candidateoutput a ON a.id = p.output_a_id
        JOIN evaluations_candidateoutput b ON b.id = p.output_b_id
        JOIN evaluations_system sa ON sa.id = a.system_id JOIN evaluations_system sb
            ON sb.id = b.system_id
        JOIN evaluations_document d ON d.id = a.document_id
        WHERE d.id <> ALL(%(hidden)s) ORDER BY p.id""",
}
COLUMNS = {
    "ratings": RATINGS,
    "preferences": PREFERENCES,
    "answers": ANSWERS,
    "decisions": DECISIONS,
}
# Rows are short, without the texts of outputs.
CHUNK = 5_000
_NESTED = (list, dict)


def as_csv(project: Project, kind: str, *, pseudonyms: bool = False) -> Iterator[str]:
    """Yield a header and a line per record; cells that look like formulas are escaped."""
    yield csv_line(COLUMNS[kind])
    for record in records(project, kind, pseudonyms=pseudonyms):
        row = record.values()
        yield csv_line(map(_cell, row), number="{:.12g}".format)


def as_jsonl(project: Project, kind: str, *, pseudonyms: bool = False) -> Iterator[bytes]:
    """Yield one JSON object per line."""
    for record in records(project, kind, pseudonyms=pseudonyms):
        yield orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE)


def _cell(value: Any) -> Any:
    """Format lists and objects as JSON in a cell; empty if they are empty."""
    return (orjson.dumps(value).decode() if value else "") if isinstance(value, _NESTED) else value


def records(project: Project, kind: str, *, pseudonyms: bool = False) -> Iterator[dict[str, Any]]:
    """Yield the records as objects."""
    if kind == "answers":
        yield from answer_records(project, pseudonyms=pseudonyms)
    elif kind == "decisions":
        yield from decision_records(project, pseudonyms=pseudonyms)
    else:
        for row in _stored_rows(project, kind, pseudonyms=pseudonyms):
            record = dict(zip(COLUMNS[kind], row, strict=True))
            if "score" in record and record["score"] is None:
                record["score"] = NOT_APPLICABLE
            yield record


def _stored_rows(project: Project, kind: str, *, pseudonyms: bool) -> Iterator[tuple[Any, ...]]:
    about = parameters_of(project, pseudonyms=pseudonyms)
    if kind == "ratings":
        chosen = [side.tolist() for side in stated_probabilities(project.pk)]
        about |= zip(("outputs", "criteria", "shares"), chosen, strict=True)
    return stream_rows(QUERIES[kind], about, chunk=CHUNK)
