"""The numbers of documents, systems, outputs and ratings in projects, and which documents are
rated, for pages that always show them.

Small numbers are counted each time. Large ones are cached in each process until the project's texts
or ratings change, as `evaluations.models.changes` records.
"""

import threading
from collections.abc import Collection, Iterable, Mapping
from typing import Any

import numpy as np
from cachetools import LRUCache
from django.db import connection

from evaluations.models import Project
from evaluations.models.seldom import read_seldom
from geval.statistics.types import IntArray

# Counting fewer takes a few milliseconds.
LARGE = 10_000
# A few entries per project, in each process.
MOST_KEPT = 10_000
# Ids are cached until texts or ratings change, but only about as long as a person may look at them.
KEPT_SECONDS = 600.0
_OF_TEXTS, _OF_RATINGS = "criterion_id IS NULL", "TRUE"
_MARKS = """
    SELECT project_id, count(*), max(id) FROM evaluations_scorechange
    WHERE project_id = ANY(%s) AND judge_id IS NULL AND {kind} GROUP BY project_id"""
_OUTPUTS = """
    SELECT d.project_id, count(*) FROM evaluations_document d
    JOIN evaluations_candidateoutput o ON o.document_id = d.id
    WHERE d.project_id = ANY(%s) GROUP BY d.project_id"""
_DOCUMENTS = """
    SELECT project_id, count(*) FROM evaluations_document
    WHERE project_id = ANY(%s) GROUP BY project_id"""
_SYSTEMS = """
    SELECT project_id, count(*) FROM evaluations_system
    WHERE project_id = ANY(%s) GROUP BY project_id"""
_RATINGS = """
    SELECT a.project_id, count(*) FROM annotations_rating r
    JOIN annotations_annotator a ON a.id = r.annotator_id
    WHERE a.project_id = ANY(%s) GROUP BY a.project_id"""
_RATED = """
    SELECT d.id FROM evaluations_document d WHERE d.project_id = %s AND EXISTS (
        SELECT FROM evaluations_candidateoutput o
        JOIN annotations_rating r ON r.output_id = o.id WHERE o.document_id = d.id)"""

_kept: LRUCache[tuple[str, int], tuple[Any, int]] = LRUCache(MOST_KEPT)
_lock = threading.Lock()


def with_sizes(projects: Iterable[Project]) -> list[Project]:
    """Return projects with `document_count`, `system_count` and `output_count`, in a handful of
    queries however many projects there are."""
    sized = list(projects)
    ids = [project.pk for project in sized]
    marks = _marks(ids, _OF_TEXTS)
    documents, outputs = (_counts(ids, marks, query) for query in (_DOCUMENTS, _OUTPUTS))
    systems = _rows(_SYSTEMS, ids)
    for project in sized:
        project.document_count = documents.get(project.pk, 0)
        project.system_count = systems.get(project.pk, 0)
        project.output_count = outputs.get(project.pk, 0)
    return sized


def rating_count(project: Project) -> int:
    """Return how many ratings people gave in a project."""
    return _counts([project.pk], _marks([project.pk], _OF_RATINGS), _RATINGS).get(project.pk, 0)


def rated_documents(project: Project) -> IntArray:
    """Return the ids of documents with a rated output, shape (n,); read again when texts or ratings
    change."""
    mark = _marks([project.pk], _OF_RATINGS).get(project.pk)
    return read_seldom(("rated", project.pk, mark), lambda: _rated(project), seconds=KEPT_SECONDS)


def _rated(project: Project) -> IntArray:
    with connection.cursor() as cursor:
        cursor.execute(_RATED, [project.pk])
        return np.fromiter((pk for (pk,) in cursor), np.int64)


def _counts(ids: Collection[int], marks: Mapping[int, Any], query: str) -> dict[int, int]:
    """Return the counts by project; those not cached for these marks are counted."""
    with _lock:
        kept = {pk: _kept[query, pk] for pk in ids if (query, pk) in _kept}
    counts = {pk: count for pk, (mark, count) in kept.items() if mark == marks.get(pk)}
    counted = _rows(query, [pk for pk in ids if pk not in counts])
    with _lock:
        for pk, count in counted.items():
            if count >= LARGE:
                _kept[query, pk] = marks.get(pk), count
    return counts | counted


def _marks(ids: Collection[int], kind: str) -> dict[int, Any]:
    """Return the last change of each project's texts or ratings, which must be read before
    counting."""
    with connection.cursor() as cursor:
        cursor.execute(_MARKS.format(kind=kind), [list(ids)])
        return {pk: (changes, last) for pk, changes, last in cursor.fetchall()}


def _rows(query: str, ids: Collection[int]) -> dict[int, int]:
    if not ids:
        return {}
    with connection.cursor() as cursor:
        cursor.execute(query, [list(ids)])
        return dict(cursor.fetchall())


def forget() -> None:
    """Forget all sizes, for tests."""
    with _lock:
        _kept.clear()


__all__ = ["forget", "rated_documents", "rating_count", "with_sizes"]
