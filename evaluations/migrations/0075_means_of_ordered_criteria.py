"""Labels without an order have no mean."""

from django.db import migrations

MEANS = """
CREATE OR REPLACE FUNCTION annotations_human_means(outputs bigint[])
RETURNS TABLE (output_id bigint, criterion_id bigint, mean double precision)
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT r.output_id, r.criterion_id,
           coalesce(avg(r.score) FILTER (WHERE a.kind = 'person'), avg(r.score))
    FROM annotations_rating r JOIN annotations_annotator a ON a.id = r.annotator_id%s
    WHERE r.output_id = ANY (outputs) GROUP BY r.output_id, r.criterion_id
$$"""
ORDERED = """
      JOIN evaluations_criterion c ON c.id = r.criterion_id AND c.is_ordered"""


class Migration(migrations.Migration):
    dependencies = [
        ("annotations", "0004_human_means"),
        ("evaluations", "0074_labels_without_an_order"),
    ]

    operations = [migrations.RunSQL(MEANS % ORDERED, MEANS % "")]
