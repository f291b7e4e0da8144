from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('evaluations', '0054_buckets_of_accounts'),
    ]

    operations = [
        migrations.AddField(
            model_name='evaluationrun',
            name='resumed_at',
            field=models.DateTimeField(blank=True, editable=False, help_text='When it was last resumed; empty if it never was.', null=True),
        ),
    ]
