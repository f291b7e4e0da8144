from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("evaluations", "0044_upkeep_jobs"),
    ]

    operations = [
        migrations.AddField(
            model_name="look",
            name="constant",
            field=models.JSONField(blank=True, null=True),
        ),
    ]
