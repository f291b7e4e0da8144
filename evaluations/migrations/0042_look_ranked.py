from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("evaluations", "0041_time_limits_that_follow"),
    ]

    operations = [
        migrations.AddField(
            model_name="look",
            name="ranked",
            field=models.JSONField(blank=True, null=True),
        ),
    ]
