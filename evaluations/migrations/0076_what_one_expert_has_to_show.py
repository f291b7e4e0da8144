from django.db import migrations, models

REQUIRED = ("required_sensitivity", "required_specificity", "required_kappa")


class Migration(migrations.Migration):
    dependencies = [("evaluations", "0075_means_of_ordered_criteria")]

    operations = [
        migrations.AddField(
            model_name="criterion",
            name="finds_highest",
            field=models.BooleanField(db_default=False, default=False),
        ),
        *(
            migrations.AddField(
                model_name="criterion",
                name=name,
                field=models.FloatField(blank=True, null=True),
            )
            for name in REQUIRED
        ),
        *(
            migrations.AddConstraint(
                model_name="criterion",
                constraint=models.CheckConstraint(
                    condition=models.Q(**{f"{name}__gt": 0, f"{name}__lt": 1}),
                    name=f"{name}_is_a_share",
                    violation_error_message="What is required lies between 0 and 1.",
                ),
            )
            for name in REQUIRED
        ),
    ]
