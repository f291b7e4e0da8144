from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("evaluations", "0079_rubrics")]

    operations = [
        migrations.RemoveConstraint(model_name="stepsrequest", name="steps_request_once"),
        migrations.AddField(
            model_name="stepsrequest",
            name="is_for_items",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddField(
            model_name="stepsrequest",
            name="items_text",
            field=models.TextField(
                blank=True,
                db_default="",
                default="",
                help_text="Lines, until the criterion is saved.",
            ),
        ),
        migrations.AddConstraint(
            model_name="stepsrequest",
            constraint=models.UniqueConstraint(
                fields=("criterion", "judge", "is_for_items"), name="steps_request_once"
            ),
        ),
    ]
