"""An index of the documents that share a conversation, built while the site runs."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("evaluations", "0034_conversations")]

    operations = [
        # What a process left that was killed while it built the index.
        migrations.RunSQL(
            "DROP INDEX CONCURRENTLY IF EXISTS document_conversation", migrations.RunSQL.noop
        ),
        AddIndexConcurrently(
            "document",
            models.Index(
                "conversation", condition=models.Q(("conversation__isnull", False)),
                name="document_conversation",
            ),
        ),
    ]
