"""A rating may be "not applicable", which is in no mean."""

from django.db import migrations, models

MEANS = """
CREATE OR REPLACE FUNCTION annotations_human_means(outputs bigint[])
RETURNS TABLE (output_id bigint, criterion_id bigint, mean double precision)
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT r.output_id, r.criterion_id,
           coalesce(avg(r.score) FILTER (WHERE a.kind = 'person'), avg(r.score))
    FROM annotations_rating r JOIN annotations_annotator a ON a.id = r.annotator_id
      JOIN evaluations_criterion c ON c.id = r.criterion_id AND c.is_ordered
    WHERE r.output_id = ANY (outputs)%s GROUP BY r.output_id, r.criterion_id
$$"""
NUMBERS = " AND r.score IS NOT NULL"


class Migration(migrations.Migration):
    dependencies = [
        ("annotations", "0012_guidelines_versions"),
        ("evaluations", "0078_not_applicable"),
    ]

    operations = [
        migrations.AlterField(
            model_name="rating",
            name="score",
            field=models.FloatField(help_text="Empty for “not applicable”.", null=True),
        ),
        migrations.RunSQL(MEANS % NUMBERS, MEANS % ""),
    ]
