from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("evaluations", "0081_policies")]

    operations = [
        migrations.AlterField(
            model_name="candidate",
            name="measure",
            field=models.CharField(
                choices=[
                    ("rank", "rho"),
                    ("balance", "balanced accuracy"),
                    ("kappa", "kappa"),
                    ("distance", "distance"),
                ],
                default="rank",
                max_length=10,
            ),
        ),
    ]
