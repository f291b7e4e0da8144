"""The models that a run's replies named."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("evaluations", "0069_without_drift_watches"),
    ]

    operations = [
        migrations.AddField(
            model_name="evaluationrun",
            name="reply_models",
            field=models.JSONField(
                db_default=models.Value([], models.JSONField()),
                default=list,
                editable=False,
                help_text="The models that its replies named, in the order of their first.",
            ),
        ),
    ]
