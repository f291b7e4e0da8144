from django.db import migrations, models

# A preview that could not be made is stored with its reason, which had another key.
RENAME_KEY = """
    UPDATE evaluations_uploadfile
    SET preview = (preview - '{old}') || jsonb_build_object('{new}', preview -> '{old}')
    WHERE jsonb_exists(preview, '{old}')
"""


class Migration(migrations.Migration):
    dependencies = [("evaluations", "0014_words_of_an_output")]

    operations = [
        migrations.RenameField("upload", "faults", "errors"),
        migrations.RenameField("upload", "fault_count", "error_count"),
        migrations.RunSQL(
            RENAME_KEY.format(old="fault", new="error"),
            RENAME_KEY.format(old="error", new="fault"),
        ),
    ]
