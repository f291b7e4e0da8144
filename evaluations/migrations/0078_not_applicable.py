from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("evaluations", "0077_balanced_accuracy_improved")]

    operations = [
        migrations.AddField(
            model_name="criterion",
            name="allows_not_applicable",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AlterField(
            model_name="score",
            name="value",
            field=models.FloatField(help_text="Empty for “not applicable”.", null=True),
        ),
        migrations.AlterField(
            model_name="score",
            name="distribution",
            field=models.JSONField(
                blank=True,
                help_text="Probability of each scale point and n/a, normalized.",
                null=True,
            ),
        ),
    ]
