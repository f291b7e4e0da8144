"""Drift watches leave the models. Their columns, rows and index stay in the database for a release;
columns that must have a value get a default, as rows are written without them."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("evaluations", "0068_views_by_dawid_skene")]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunSQL(
                    """ALTER TABLE evaluations_study
                        ALTER COLUMN every_hours SET DEFAULT 24,
                        ALTER COLUMN drift SET DEFAULT ''""",
                    """ALTER TABLE evaluations_study
                        ALTER COLUMN every_hours DROP DEFAULT,
                        ALTER COLUMN drift DROP DEFAULT""",
                )
            ],
            state_operations=[
                migrations.RemoveConstraint("study", "one_watch_at_a_time"),
                migrations.RemoveField("study", "every_hours"),
                migrations.RemoveField("study", "drifted_at"),
                migrations.RemoveField("study", "drift"),
                migrations.RemoveField("studypart", "scores_evidence"),
                migrations.RemoveField("studypart", "agreement_evidence"),
                migrations.AlterField(
                    "study",
                    "kind",
                    models.CharField(
                        choices=[("again", "Asked again"), ("probes", "Probes")], max_length=10
                    ),
                ),
                migrations.AlterField(
                    "webhookdelivery",
                    "event",
                    models.CharField(
                        choices=[
                            ("run.finished", "A run finished"),
                            ("campaign.finished", "A campaign finished"),
                            ("test", "Test"),
                        ],
                        max_length=40,
                    ),
                ),
            ],
        ),
    ]
