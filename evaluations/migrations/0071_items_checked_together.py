"""Items of runs are checked against what they refer to once for each statement instead of once for
each row: 320,000 items took 14 seconds. Triggers do what the foreign keys did, so the processes of
the version before are checked as well."""

import django.db.models.deletion
from django.db import migrations, models

# Rows that are referred to are locked as a foreign key locks them: whoever deletes one waits until
# the items are committed, and then deletes these as well. EXECUTE plans for the number of rows.
REFER = """
CREATE OR REPLACE FUNCTION evaluations_items_refer() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    missing boolean;
BEGIN
    EXECUTE $sql$
        WITH outputs AS MATERIALIZED (
            SELECT output_id AS id FROM added
            UNION SELECT rival_id FROM added WHERE rival_id IS NOT NULL),
        runs AS MATERIALIZED (SELECT DISTINCT run_id AS id FROM added),
        criteria AS MATERIALIZED (
            SELECT DISTINCT criterion_id AS id FROM added WHERE criterion_id IS NOT NULL),
        locked_outputs AS (
            SELECT FROM evaluations_candidateoutput o JOIN outputs USING (id) FOR KEY SHARE OF o),
        locked_runs AS (
            SELECT FROM evaluations_evaluationrun r JOIN runs USING (id) FOR KEY SHARE OF r),
        locked_criteria AS (
            SELECT FROM evaluations_criterion c JOIN criteria USING (id) FOR KEY SHARE OF c)
        SELECT (SELECT count(*) FROM outputs) > (SELECT count(*) FROM locked_outputs)
            OR (SELECT count(*) FROM runs) > (SELECT count(*) FROM locked_runs)
            OR (SELECT count(*) FROM criteria) > (SELECT count(*) FROM locked_criteria)
    $sql$ INTO missing;
    IF missing THEN
        RAISE foreign_key_violation USING
            MESSAGE = 'an item refers to a run, output or criterion that does not exist';
    END IF;
    RETURN NULL;
END $$"""
FOLLOW = """
CREATE OR REPLACE FUNCTION evaluations_rows_follow() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format(
        'DELETE FROM %I WHERE %I IN (SELECT id FROM gone)', TG_ARGV[0], TG_ARGV[1]);
    RETURN NULL;
END $$"""
DELETED = {
    "run": "evaluationrun",
    "output": "candidateoutput",
    "rival": "candidateoutput",
    "criterion": "criterion",
}


def trigger(name: str, table: str, rest: str) -> migrations.RunSQL:
    return migrations.RunSQL(
        f"CREATE OR REPLACE TRIGGER {name} AFTER {rest}",
        f"DROP TRIGGER IF EXISTS {name} ON {table}",
    )


class Migration(migrations.Migration):
    atomic = False  # each lock is held for a moment only
    dependencies = [("evaluations", "0070_models_of_replies")]

    operations = [
        migrations.RunSQL(REFER, "DROP FUNCTION IF EXISTS evaluations_items_refer()"),
        migrations.RunSQL(FOLLOW, "DROP FUNCTION IF EXISTS evaluations_rows_follow()"),
        trigger(
            "items_refer",
            "evaluations_runitem",
            "INSERT ON evaluations_runitem REFERENCING NEW TABLE AS added"
            " FOR EACH STATEMENT EXECUTE FUNCTION evaluations_items_refer()",
        ),
        *(
            trigger(
                f"items_follow_{field}",
                f"evaluations_{model}",
                f"DELETE ON evaluations_{model} REFERENCING OLD TABLE AS gone"
                " FOR EACH STATEMENT EXECUTE FUNCTION"
                f" evaluations_rows_follow('evaluations_runitem', '{field}_id')",
            )
            for field, model in DELETED.items()
        ),
        *(
            migrations.AlterField(
                "runitem",
                field,
                models.ForeignKey(
                    f"evaluations.{model}",
                    blank=field in ("rival", "criterion"),
                    null=field in ("rival", "criterion"),
                    db_constraint=False,
                    db_index=field == "output",
                    on_delete=django.db.models.deletion.CASCADE,
                    related_name="items" if field == "run" else "+",
                ),
            )
            for field, model in DELETED.items()
        ),
    ]
