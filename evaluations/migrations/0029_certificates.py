"""Certificates: what a judge was shown to meet, with what they are bound to."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("evaluations", "0028_models_that_endpoints_list"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Certificate",
            fields=[
                ("id", models.BigAutoField(
                    auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                )),
                ("outcome", models.CharField(
                    help_text="Met, not met, or cannot say.", max_length=10
                )),
                ("content", models.JSONField()),
                ("made_at", models.DateTimeField(auto_now_add=True)),
                ("criterion", models.ForeignKey(
                    on_delete=django.db.models.deletion.CASCADE,
                    related_name="certificates", to="evaluations.criterion",
                )),
                ("judge", models.ForeignKey(
                    on_delete=django.db.models.deletion.CASCADE,
                    related_name="certificates", to="evaluations.judge",
                )),
                ("made_by", models.ForeignKey(
                    blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL,
                    related_name="+", to=settings.AUTH_USER_MODEL,
                )),
                ("project", models.ForeignKey(
                    on_delete=django.db.models.deletion.CASCADE,
                    related_name="certificates", to="evaluations.project",
                )),
            ],
            options={"ordering": ("-pk",)},
        ),
    ]
