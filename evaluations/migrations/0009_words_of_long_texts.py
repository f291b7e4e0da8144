import django.contrib.postgres.indexes
from django.db import migrations

import evaluations.models.corpus

# No text of 100,000 bytes fills a tsvector; only longer ones are worth a subtransaction to catch that.
DEFINE = """
    CREATE FUNCTION evaluations_search_words(body text) RETURNS tsvector LANGUAGE plpgsql IMMUTABLE STRICT AS $$
    BEGIN
        IF octet_length(body) < 100000 THEN
            RETURN to_tsvector('simple', body);
        END IF;
        BEGIN
            RETURN to_tsvector('simple', body);
        EXCEPTION WHEN program_limit_exceeded THEN
            RETURN to_tsvector('simple', left(body, 50000));
        END;
    END $$"""
# ANALYZE would find the words of thousands of texts anew; what it learns changes no plan, as words are always looked up.
NO_STATISTICS = """
    ALTER INDEX output_words ALTER COLUMN 1 SET STATISTICS 0;
    ALTER INDEX document_words ALTER COLUMN 1 SET STATISTICS 0"""


class Migration(migrations.Migration):
    dependencies = [("evaluations", "0008_lists_of_documents")]

    operations = [
        migrations.RunSQL(DEFINE, "DROP FUNCTION evaluations_search_words(text)"),
        migrations.RemoveIndex(model_name="candidateoutput", name="output_words"),
        migrations.RemoveIndex(model_name="document", name="document_words"),
        migrations.AddIndex(
            model_name="candidateoutput",
            index=django.contrib.postgres.indexes.GinIndex(
                evaluations.models.corpus.SearchWords("text"), name="output_words"
            ),
        ),
        migrations.AddIndex(
            model_name="document",
            index=django.contrib.postgres.indexes.GinIndex(
                evaluations.models.corpus.SearchWords("source"), name="document_words"
            ),
        ),
        migrations.RunSQL(NO_STATISTICS, migrations.RunSQL.noop),
    ]
