from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):

    # The table has millions of rows, and people work while the index is built.
    atomic = False

    dependencies = [
        ('annotations', '0016_named_items'),
    ]

    operations = [
        migrations.RunSQL('DROP INDEX CONCURRENTLY IF EXISTS item_kept', migrations.RunSQL.noop),
        AddIndexConcurrently(
            'campaignitem',
            models.Index(
                condition=models.Q(('kept_for__isnull', False)),
                fields=['campaign', 'position'],
                name='item_kept',
            ),
        ),
    ]
