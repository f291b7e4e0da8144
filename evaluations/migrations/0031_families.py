"""Systems and judges are given a family of models; without one it is guessed from the name."""

from django.db import migrations, models

FAMILY = models.CharField(
    blank=True,
    db_default="",
    default="",
    help_text="Of models, such as gpt or qwen. Empty: guessed from the name.",
    max_length=60,
)


class Migration(migrations.Migration):
    dependencies = [("evaluations", "0030_scoring_of_proposals")]

    operations = [
        migrations.AddField(model_name=name, name="family", field=FAMILY.clone())
        for name in ("judge", "system")
    ]
