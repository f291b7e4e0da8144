"""Limits of projects, and what their runs cost in each month."""

from decimal import Decimal

import django.core.validators
import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("evaluations", "0031_families")]

    operations = [
        migrations.CreateModel(
            name="ProjectLimits",
            fields=[
                ("id", models.BigAutoField(
                    auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                )),
                ("storage_mb", models.PositiveIntegerField(
                    blank=True, help_text="Of texts and of what models replied.", null=True,
                    verbose_name="storage in MB",
                )),
                ("runs", models.PositiveIntegerField(
                    blank=True, null=True, verbose_name="runs at the same time"
                )),
                ("money_per_month", models.DecimalField(
                    blank=True, decimal_places=4,
                    help_text="In the currency of the judges' prices.", max_digits=14, null=True,
                    validators=[django.core.validators.MinValueValidator(Decimal(0))],
                )),
                ("project", models.OneToOneField(
                    on_delete=django.db.models.deletion.CASCADE, related_name="limits",
                    to="evaluations.project",
                )),
            ],
        ),
        migrations.CreateModel(
            name="MonthlySpending",
            fields=[
                ("id", models.BigAutoField(
                    auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                )),
                ("month", models.DateField(help_text="Its first day, in UTC.")),
                ("money", models.DecimalField(
                    db_default=0, decimal_places=8, default=0, max_digits=18
                )),
                ("project", models.ForeignKey(
                    on_delete=django.db.models.deletion.CASCADE, related_name="spending",
                    to="evaluations.project",
                )),
            ],
            options={
                "ordering": ("-month",),
                "constraints": [models.UniqueConstraint(
                    fields=("project", "month"), name="spending_once_a_month"
                )],
            },
        ),
    ]
