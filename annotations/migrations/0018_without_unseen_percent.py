"""The share of items without LLM scores leaves the model. Its column stays in the database for a
release; it has a default there."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("annotations", "0017_items_kept")]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[migrations.RemoveField("campaign", "unseen_percent")],
        ),
    ]
