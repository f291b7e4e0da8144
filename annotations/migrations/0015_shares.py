import django.core.validators
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('annotations', '0014_steps_of_reviews'),
    ]

    operations = [
        migrations.AddField(
            model_name='campaign',
            name='most_each',
            field=models.PositiveIntegerField(
                blank=True, null=True, validators=[django.core.validators.MinValueValidator(1)]
            ),
        ),
        # Campaigns that have begun stay without shares.
        migrations.AddField(
            model_name='seat',
            name='takes_more',
            field=models.BooleanField(db_default=True, default=True),
        ),
        migrations.AlterField(
            model_name='seat',
            name='takes_more',
            field=models.BooleanField(db_default=False, default=False),
        ),
    ]
