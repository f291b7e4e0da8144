"""Texts of draws are known in a folded form; those of existing projects are added to the record."""

from django.db import migrations

from evaluations.models.improving import text_digest

_TEXTS = """
    SELECT d.source, v.turns, d.turns_before, o.texts FROM evaluations_document d
    LEFT JOIN evaluations_conversation v ON v.id = d.conversation_id
    LEFT JOIN LATERAL (
        SELECT array_agg(text ORDER BY text) AS texts FROM evaluations_candidateoutput
        WHERE document_id = d.id AND d.source = '') o ON true
    WHERE d.project_id = %s AND (d.source <> '' OR v.digest IS NOT NULL OR o.texts IS NOT NULL)"""


def fold(apps, schema_editor):
    cursor = schema_editor.connection.cursor()
    cursor.execute(
        "SELECT draw, project_id FROM evaluations_lockeddocuments WHERE draw <> '' ORDER BY id"
    )
    for draw, project in cursor.fetchall():
        cursor.execute(_TEXTS, [project])
        digests = sorted({text_digest(*row) for row in cursor.fetchall()})
        cursor.execute(
            """INSERT INTO evaluations_lockedtext (draw, digest, is_locked)
               SELECT %s, digest, false FROM unnest(%s::text[]) AS t(digest)
               ON CONFLICT DO NOTHING""",
            [draw, digests],
        )


class Migration(migrations.Migration):

    dependencies = [("evaluations", "0064_expiry_of_tokens")]

    operations = [migrations.RunPython(fold, migrations.RunPython.noop)]
