"""What looks like a letter of a group is folded like the group, such as a Cyrillic letter that looks
like H: the texts of existing projects' draws are added to the record in this form, too."""

from importlib import import_module

from django.db import migrations

fold = import_module("evaluations.migrations.0065_folded_texts_of_draws").fold


class Migration(migrations.Migration):

    dependencies = [("evaluations", "0072_tallies_of_items")]

    operations = [migrations.RunPython(fold, migrations.RunPython.noop)]
