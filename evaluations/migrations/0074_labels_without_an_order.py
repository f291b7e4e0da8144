from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("evaluations", "0073_texts_of_draws_by_groups")]

    operations = [
        migrations.AddField(
            model_name="criterion",
            name="is_ordered",
            field=models.BooleanField(db_default=True, default=True),
        ),
    ]
