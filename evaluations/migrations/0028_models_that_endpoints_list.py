"""Endpoints keep the names of the models they list."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("evaluations", "0027_uploads_that_understand")]

    operations = [
        migrations.AddField(
            model_name="endpoint",
            name="listed_models",
            field=models.JSONField(
                blank=True,
                editable=False,
                help_text="The models it listed when it was last probed; suggestions only.",
                null=True,
            ),
        ),
    ]
