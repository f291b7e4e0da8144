"""Studies of judges as instruments, and runs of theirs, whose scores count nowhere else."""

import django.core.validators
import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('evaluations', '0032_limits'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name='evaluationrun',
            name='purpose',
            field=models.CharField(blank=True, db_default='', default='', editable=False, help_text='The kind of study that asked; its scores count nowhere else. Empty for none.', max_length=10),
        ),
        migrations.AlterField(
            model_name='webhookdelivery',
            name='event',
            field=models.CharField(choices=[('run.finished', 'A run finished'), ('campaign.finished', 'A campaign finished'), ('judge.drifted', 'A judge drifted'), ('test', 'Test')], max_length=40),
        ),
        migrations.CreateModel(
            name='Study',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('drift', 'Drift watch'), ('again', 'Asked again'), ('probes', 'Probes')], max_length=10)),
                ('replies', models.PositiveSmallIntegerField(default=5, validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(20)])),
                ('budget', models.DecimalField(blank=True, decimal_places=4, max_digits=14, null=True)),
                ('every_hours', models.PositiveSmallIntegerField(default=24, validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(744)])),
                ('is_on', models.BooleanField(default=True, help_text='Whether it has anything left to ask.')),
                ('next_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('message', models.CharField(blank=True, max_length=500)),
                ('prompt', models.TextField(blank=True)),
                ('model', models.CharField(blank=True, max_length=200)),
                ('drifted_at', models.DateTimeField(blank=True, null=True)),
                ('drift', models.CharField(blank=True, help_text='What drifted, in a sentence.', max_length=500)),
                ('made_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('criterion', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='studies', to='evaluations.criterion')),
                ('judge', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='studies', to='evaluations.judge')),
                ('made_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='studies', to='evaluations.project')),
            ],
            options={
                'verbose_name_plural': 'studies',
                'ordering': ('-pk',),
            },
        ),
        migrations.CreateModel(
            name='StudyItem',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('rating', models.FloatField(blank=True, null=True)),
                ('scores', models.JSONField(default=list)),
                ('output', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='evaluations.candidateoutput')),
                ('study', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='items', to='evaluations.study')),
            ],
            options={
                'ordering': ('pk',),
            },
        ),
        migrations.CreateModel(
            name='StudyPart',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField()),
                ('name', models.CharField(blank=True, max_length=20)),
                ('model', models.CharField(blank=True, max_length=200)),
                ('scores_evidence', models.FloatField(blank=True, null=True)),
                ('agreement_evidence', models.FloatField(blank=True, null=True)),
                ('started_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('recorded_at', models.DateTimeField(blank=True, null=True)),
                ('run', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='study_part', to='evaluations.evaluationrun')),
                ('study', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='parts', to='evaluations.study')),
            ],
            options={
                'ordering': ('study', 'number'),
            },
        ),
        migrations.AddConstraint(
            model_name='study',
            constraint=models.UniqueConstraint(condition=models.Q(('is_on', True), ('kind', 'drift')), fields=('judge', 'criterion'), name='one_watch_at_a_time'),
        ),
        migrations.AddConstraint(
            model_name='studyitem',
            constraint=models.UniqueConstraint(fields=('study', 'output'), name='item_once_per_study'),
        ),
        migrations.AddConstraint(
            model_name='studypart',
            constraint=models.UniqueConstraint(fields=('study', 'number'), name='part_once_per_study'),
        ),
    ]
