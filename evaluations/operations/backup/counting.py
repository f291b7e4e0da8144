"""How many rows a database has, by table and by project: what a restored one must have, too."""

from django.db import connection
from psycopg import sql

OURS = """
    SELECT relname FROM pg_class
    WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace
    ORDER BY relname
"""
# Whoever reads a backup could go on with the sessions of others, and whoever restores one would
# begin anew those that were signed out of since.
NOT_IN_A_BACKUP = "django_session"
# What a project holds, each counted through its way to the project.
HELD = {
    "documents": "evaluations_document d",
    "outputs": "evaluations_candidateoutput o JOIN evaluations_document d ON d.id = o.document_id",
    "ratings": "annotations_rating r JOIN evaluations_criterion d ON d.id = r.criterion_id",
    "preferences": "annotations_preference p JOIN annotations_annotator d ON d.id = p.annotator_id",
    "scores": "evaluations_score s JOIN evaluations_evaluationrun d ON d.id = s.run_id",
    "replies": "evaluations_modelreply d",
}


def rows_by_table() -> dict[str, int]:
    """The number of rows that a backup has of every table."""
    with connection.cursor() as cursor:
        cursor.execute(OURS)
        tables = [name for (name,) in cursor.fetchall()]
        counts = {}
        for name in tables:
            query = sql.SQL("SELECT count(*) FROM public.{}").format(sql.Identifier(name))
            cursor.execute(query)
            counts[name] = cursor.fetchone()[0] if name != NOT_IN_A_BACKUP else 0
    return counts


def held_by_project() -> dict[str, dict[str, int]]:
    """What each project holds, by its short name; documents, outputs, ratings and so on."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT id, slug FROM evaluations_project ORDER BY slug")
        slugs = dict(cursor.fetchall())
        held = {slug: dict.fromkeys(HELD, 0) for slug in slugs.values()}
        for name, rows in HELD.items():
            cursor.execute(f"SELECT d.project_id, count(*) FROM {rows} GROUP BY d.project_id")
            for project, count in cursor.fetchall():
                held[slugs[project]][name] = count
    return held
