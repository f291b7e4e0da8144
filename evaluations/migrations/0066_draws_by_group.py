"""Documents of one group are locked together from now on; earlier draws stay as they are."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [("evaluations", "0065_folded_texts_of_draws")]

    operations = [
        migrations.AddField(
            model_name="lockeddocuments",
            name="by_group",
            field=models.BooleanField(
                db_default=False,
                default=False,
                help_text="Documents of one group are locked together.",
            ),
        ),
    ]
