"""How a project's texts are shown, and which language they are in."""

from django.db import migrations, models

import evaluations.models.project

FORMATS = [
    ("plain", "Plain text"),
    ("markdown", "Markdown"),
    ("code", "Code"),
    ("html", "HTML, shown as source"),
    ("json", "JSON, indented"),
    ("table", "Table (CSV or TSV)"),
    ("automatic", "As it looks, text by text"),
]


def format_field(text):
    return models.CharField(
        choices=FORMATS, db_default="plain", default="plain", max_length=20,
        verbose_name=f"format of {text}",
    )


class Migration(migrations.Migration):
    dependencies = [("evaluations", "0036_pages_of_frozen_reports")]

    operations = [
        migrations.AddField("project", "source_format", format_field("sources")),
        migrations.AddField("project", "output_format", format_field("outputs")),
        migrations.AddField("project", "reference_format", format_field("references")),
        migrations.AddField("project", "code_language", models.CharField(
            blank=True,
            choices=[
                ("", "Unknown: without colours"), ("bash", "Shell"), ("c", "C"), ("cpp", "C++"),
                ("css", "CSS"), ("diff", "Diff"), ("go", "Go"), ("javascript", "JavaScript"),
                ("python", "Python"), ("rust", "Rust"), ("sql", "SQL"), ("toml", "TOML"),
                ("typescript", "TypeScript"), ("xml", "XML"),
            ],
            db_default="", help_text="For texts that are shown as code.", max_length=20,
        )),
        migrations.AddField("project", "text_language", models.CharField(
            blank=True, db_default="",
            help_text=(
                "Such as ar, ja or zh-Hant: screen readers pronounce, and browsers break lines, by"
                " it. A document's metadata “lang” comes first."
            ),
            max_length=35, validators=[evaluations.models.project.check_language],
            verbose_name="language of the texts",
        )),
    ]
