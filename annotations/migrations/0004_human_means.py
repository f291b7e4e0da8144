"""What people think of an output on a criterion, as a number: defined here once, for pages, lists and planning."""

from django.db import migrations

MAKE = """
CREATE FUNCTION annotations_human_means(outputs bigint[])
RETURNS TABLE (output_id bigint, criterion_id bigint, mean double precision)
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT r.output_id, r.criterion_id,
           coalesce(avg(r.score) FILTER (WHERE a.kind = 'person'), avg(r.score))
    FROM annotations_rating r JOIN annotations_annotator a ON a.id = r.annotator_id
    WHERE r.output_id = ANY (outputs) GROUP BY r.output_id, r.criterion_id
$$;
COMMENT ON FUNCTION annotations_human_means IS
    'The human mean of each output and criterion: the mean over the people who rated it; where no single person did,'
    ' the mean that a release states. Never both together (docs/method.md).';
"""


class Migration(migrations.Migration):
    dependencies = [("annotations", "0003_ratings_in_one_index")]

    operations = [migrations.RunSQL(MAKE, "DROP FUNCTION annotations_human_means(bigint[])")]
