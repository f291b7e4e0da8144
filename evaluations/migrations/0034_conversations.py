"""Documents that are turns of conversations, and outputs with turns of their own."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("evaluations", "0033_instrument")]

    operations = [
        migrations.CreateModel(
            name="Conversation",
            fields=[
                ("id", models.BigAutoField(
                    auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                )),
                ("digest", models.CharField(max_length=64)),
                ("turns", models.JSONField(default=list)),
                ("project", models.ForeignKey(
                    on_delete=django.db.models.deletion.CASCADE, related_name="conversations",
                    to="evaluations.project",
                )),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("project", "digest"), name="conversation_once_per_project"
                    )
                ],
            },
        ),
        migrations.AddField(
            model_name="candidateoutput",
            name="turns",
            field=models.JSONField(
                blank=True, db_default=models.Value([], models.JSONField()), default=list,
                help_text="The turns that the system wrote, where they are more than a text.",
            ),
        ),
        migrations.AddField(
            model_name="document",
            name="session",
            field=models.CharField(
                blank=True, db_default="", default="", max_length=200,
                help_text="What it is a turn of: documents of one session are not independent.",
            ),
        ),
        migrations.AddField(
            model_name="document",
            name="turns_before",
            field=models.PositiveIntegerField(
                db_default=0, default=0,
                help_text="How many turns of the conversation come before what is rated.",
            ),
        ),
        migrations.AddField(
            model_name="document",
            name="conversation",
            field=models.ForeignKey(
                blank=True, db_index=False, null=True, related_name="documents",
                help_text="What was said around the turn that is rated.",
                on_delete=django.db.models.deletion.RESTRICT, to="evaluations.conversation",
            ),
        ),
    ]
