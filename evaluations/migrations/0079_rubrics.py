import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("evaluations", "0078_not_applicable")]

    operations = [
        migrations.AddField(
            model_name="criterion",
            name="rubric",
            field=models.ForeignKey(
                blank=True,
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="items",
                to="evaluations.criterion",
            ),
        ),
        migrations.AddField(
            model_name="criterion",
            name="weight",
            field=models.FloatField(db_default=1.0, default=1),
        ),
        migrations.AddConstraint(
            model_name="criterion",
            constraint=models.CheckConstraint(
                condition=models.Q(weight__gt=0, weight__lte=1e9),
                name="weight_positive",
                violation_error_message="A weight is a number above 0.",
            ),
        ),
    ]
