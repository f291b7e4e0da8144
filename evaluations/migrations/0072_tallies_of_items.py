"""How many items of a run are in each state is kept by triggers, so that no page counts them."""

import django.db.models.deletion
from django.db import migrations, models

STATES = ("pending", "leased", "sent", "done", "failed")
# A run has a row for each transaction that changed its items at the same time: who finds all rows
# locked adds one, so that nobody waits, and no two transactions can wait for each other.
TALLY = f"""
CREATE FUNCTION evaluations_items_tally() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    changes text := concat_ws(' UNION ALL ',
        CASE WHEN TG_OP <> 'DELETE' THEN 'SELECT run_id, state, 1 AS n FROM added' END,
        CASE WHEN TG_OP <> 'INSERT' THEN 'SELECT run_id, state, -1 AS n FROM gone' END);
    change record;
BEGIN
    FOR change IN EXECUTE format($sql$
        SELECT run_id, {", ".join(
            f"coalesce(sum(n) FILTER (WHERE state = '{state}'), 0) AS {state}" for state in STATES
        )}
        FROM (SELECT run_id, state, sum(n) AS n FROM (%s) AS each GROUP BY run_id, state) AS c
        WHERE n <> 0 GROUP BY run_id$sql$, changes)
    LOOP
        UPDATE evaluations_runtally t
        SET {", ".join(f"{state} = t.{state} + change.{state}" for state in STATES)}
        WHERE t.id = (SELECT id FROM evaluations_runtally WHERE run_id = change.run_id
                      LIMIT 1 FOR UPDATE SKIP LOCKED);
        IF NOT FOUND THEN
            INSERT INTO evaluations_runtally (run_id, {", ".join(STATES)})
            SELECT change.run_id, {", ".join(f"change.{state}" for state in STATES)}
            WHERE EXISTS (SELECT FROM evaluations_evaluationrun WHERE id = change.run_id);
        END IF;
    END LOOP;
    RETURN NULL;
END $$"""
EVENTS = {
    "INSERT": "NEW TABLE AS added",
    "UPDATE": "OLD TABLE AS gone NEW TABLE AS added",
    "DELETE": "OLD TABLE AS gone",
}
TRIGGERS = [
    f"""CREATE TRIGGER items_tally_{event.lower()} AFTER {event} ON evaluations_runitem
        REFERENCING {tables} FOR EACH STATEMENT EXECUTE FUNCTION evaluations_items_tally()"""
    for event, tables in EVENTS.items()
]
NO_TRIGGERS = [
    f"DROP TRIGGER items_tally_{event.lower()} ON evaluations_runitem" for event in EVENTS
]
# The triggers above have locked the items until the transaction ends.
FIRST_COUNT = f"""
INSERT INTO evaluations_runtally (run_id, {", ".join(STATES)})
SELECT run_id, {", ".join(f"count(*) FILTER (WHERE state = '{state}')" for state in STATES)}
FROM evaluations_runitem GROUP BY run_id"""
# A run's rows go with it. A foreign key would lock the run, and so make those wait who add to it.
FOLLOW = """CREATE TRIGGER tallies_follow AFTER DELETE ON evaluations_evaluationrun
    REFERENCING OLD TABLE AS gone FOR EACH STATEMENT
    EXECUTE FUNCTION evaluations_rows_follow('evaluations_runtally', 'run_id')"""


class Migration(migrations.Migration):
    dependencies = [("evaluations", "0071_items_checked_together")]

    operations = [
        migrations.CreateModel(
            name="RunTally",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                *((state, models.IntegerField(db_default=0, default=0)) for state in STATES),
                (
                    "run",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="tallies",
                        to="evaluations.evaluationrun",
                    ),
                ),
            ],
            options={"verbose_name_plural": "run tallies"},
        ),
        migrations.RunSQL(FOLLOW, "DROP TRIGGER tallies_follow ON evaluations_evaluationrun"),
        migrations.RunSQL(TALLY, "DROP FUNCTION evaluations_items_tally()"),
        migrations.RunSQL(TRIGGERS, NO_TRIGGERS),
        migrations.RunSQL(FIRST_COUNT, migrations.RunSQL.noop),
    ]
