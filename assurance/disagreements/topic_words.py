"""Words of the sources around which large gaps may cluster, from a sample of a few hundred
documents."""

from collections.abc import Collection

from django.db import connection

from evaluations.models import Project
from evaluations.models.changes import state_of
from geval.statistics.cache import remembered_as
from geval.statistics.thresholds import WORD_DOCUMENTS, WORD_SHARE

MOST_WORDS = 40
# PostgreSQL parses each word, and the beginning of a text has its topic.
READ_CHARACTERS = 30_000
# Words of at least four letters that are not stop words of PostgreSQL's English dictionary. The
# most common words are tested first, so that the choice does not depend on which documents have
# large gaps.
_WORDS = """
    WITH found AS (
        SELECT word, array_agg(d.id) AS ids
        FROM evaluations_document d, unnest(tsvector_to_array(
            evaluations_search_words(left(d.source, %(characters)s)))) AS word
        WHERE d.project_id = %(project)s AND d.id = ANY (%(ids)s::bigint[])
            AND word ~ '^[[:alpha:]]{4,24}$'
        GROUP BY word HAVING count(*) BETWEEN %(least)s AND %(most)s)
    SELECT word, ids FROM found WHERE length(to_tsvector('english', word)) > 0
    ORDER BY cardinality(ids) DESC, word LIMIT %(words)s"""


def topic_words(project: Project, documents: Collection[int]) -> dict[str, frozenset[int]]:
    """Return the documents (by id) that contain each word, without stop words."""
    ids = sorted(documents)
    of_corpus = state_of(project.pk).get((None, None))
    return remembered_as(
        "topic words", [project.pk, of_corpus, ids], lambda: _words_of(project.pk, ids)
    )


def _words_of(project_id: int, ids: list[int]) -> dict[str, frozenset[int]]:
    most = int(WORD_SHARE * len(ids))
    with connection.cursor() as cursor:
        cursor.execute(
            _WORDS,
            {
                "project": project_id,
                "ids": ids,
                "characters": READ_CHARACTERS,
                "least": WORD_DOCUMENTS,
                "most": most,
                "words": MOST_WORDS,
            },
        )
        return {word: frozenset(having) for word, having in cursor.fetchall()}
