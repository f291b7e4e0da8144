"""Count a database's rows by table and by project; a restored database must have the same
counts."""

from django.db import connection
from psycopg import sql

OURS = """
    SELECT relname FROM pg_class
    WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace
    ORDER BY relname
"""
# Sessions are left out of backups: anyone reading a backup could use them, and restoring one would
# revive sessions that were signed out since.
NOT_IN_A_BACKUP = "django_session"
# The contents of a project, each counted through its path to the project.
HELD = {
    "documents": "evaluations_document d",
    "outputs": "evaluations_candidateoutput o JOIN evaluations_document d ON d.id = o.document_id",
    "ratings": "annotations_rating r JOIN evaluations_criterion d ON d.id = r.criterion_id",
    "preferences": "annotations_preference p JOIN annotations_annotator d ON d.id = p.annotator_id",
    "scores": "evaluations_score s JOIN evaluations_evaluationrun d ON d.id = s.run_id",
    "replies": "evaluations_modelreply d",
}


def rows_by_table() -> dict[str, int]:
    """Return the number of rows of every table in a backup."""
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
    """Return the contents of each project (documents, outputs, ratings and so on) by its short
    name."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT id, slug FROM evaluations_project ORDER BY slug")
        slugs = dict(cursor.fetchall())
        held = {slug: dict.fromkeys(HELD, 0) for slug in slugs.values()}
        for name, rows in HELD.items():
            cursor.execute(f"SELECT d.project_id, count(*) FROM {rows} GROUP BY d.project_id")
            for project, count in cursor.fetchall():
                held[slugs[project]][name] = count
    return held
