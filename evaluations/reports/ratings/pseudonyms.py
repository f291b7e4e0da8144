"""The names of people in files: their own, or pseudonyms, which are the same in all files of a
project: "annotator 1" and so on, and none for those who review, decide or exclude."""

from django.db import connection

# A table of a project's annotators, for FROM and JOIN; texts of comments are unchanged.
ANNOTATORS = """(SELECT id, project_id, kind,
        CASE WHEN NOT %(pseudonyms)s THEN name
            ELSE CASE kind WHEN 'person' THEN 'annotator ' ELSE 'mean ' END
                || row_number() OVER (PARTITION BY kind ORDER BY id) END AS name
    FROM annotations_annotator WHERE project_id = %(project)s)"""


def unless_pseudonyms(name: str) -> str:
    """Return the expression of the name of a member who is not named with pseudonyms."""
    return f"CASE WHEN %(pseudonyms)s THEN '' ELSE {name} END"


def annotator_names(project_id: int, *, pseudonyms: bool) -> dict[int | None, str]:
    """Return the names of a project's annotators by id."""
    about = {"project": project_id, "pseudonyms": pseudonyms}
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT id, name FROM {ANNOTATORS} AS n", about)
        return dict(cursor.fetchall())
