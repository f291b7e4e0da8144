from django.db import migrations, models

CHOICES = [
    ("rank", "rho"),
    ("balance", "balanced accuracy"),
    ("kappa", "kappa"),
    ("distance", "distance"),
]


class Migration(migrations.Migration):
    dependencies = [("evaluations", "0082_second_judge_of_policies")]

    operations = [
        migrations.AlterField(
            "candidate",
            "measure",
            models.CharField(choices=CHOICES, default="rank", max_length=10),
        ),
    ]
