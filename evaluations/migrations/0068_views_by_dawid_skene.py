"""Links and frozen reports of views by MACE, which was removed, are views by Dawid and Skene."""

from django.db import migrations
from django.db.models import F, Value
from django.db.models.functions import Replace

MACE, INSTEAD = "human_score=mace", "human_score=dawid-skene"


def rename(apps, schema_editor):
    for name in ("ShareLink", "ReportSnapshot"):
        views = apps.get_model("evaluations", name).objects.filter(query__contains=MACE)
        views.update(query=Replace(F("query"), Value(MACE), Value(INSTEAD)))
    apps.get_model("evaluations", "KeptReport").objects.filter(view__contains=MACE).delete()


class Migration(migrations.Migration):

    dependencies = [("evaluations", "0067_names_in_frozen_reports")]

    operations = [migrations.RunPython(rename, migrations.RunPython.noop)]
