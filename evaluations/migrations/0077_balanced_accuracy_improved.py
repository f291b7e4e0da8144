from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("evaluations", "0076_what_one_expert_has_to_show")]

    operations = [
        migrations.AlterField(
            model_name="candidate",
            name="measure",
            field=models.CharField(
                choices=[
                    ("rank", "rho"),
                    ("balance", "balanced accuracy"),
                    ("distance", "distance"),
                ],
                default="rank",
                max_length=10,
            ),
        ),
    ]
