"""Searches try how a judge scores: what a proposal changes of its settings."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("evaluations", "0029_certificates")]

    operations = [
        migrations.AddField(
            model_name="proposal",
            name="scoring",
            field=models.JSONField(
                db_default=models.Value({}, models.JSONField()), default=dict
            ),
        ),
        migrations.AlterField(
            model_name="candidate",
            name="change",
            field=models.CharField(
                choices=[
                    ("wording", "Wording"),
                    ("examples", "Rated examples"),
                    ("scoring", "Scoring"),
                    ("choice", "Another judge"),
                    ("panel", "Panel"),
                    ("calibration", "Calibration map"),
                ],
                max_length=20,
            ),
        ),
    ]
