"""Stage and merge uploaded verdicts of judges on pairs of outputs.

A judge may have been asked in both orders, with a row for each. Both together are one verdict, as
in runs of our own pairwise judges: the mean, and how much of it went to the text shown first.
"""

from collections.abc import Sequence

from django.db import connection

from evaluations.corpus.preferences import WITH_IDS, Conflicts
from evaluations.corpus.staging import StagingTable
from geval.files import contradictions
from geval.files.load_results import LoadTally
from geval.files.rows import PreferenceRow

COLUMNS = {
    "file": "int",
    "line": "int",
    "first": "bigint",
    "second": "bigint",
    "criterion": "bigint",
    "run": "bigint",
    "value": "float8",
    "tie": "float8",
    "first_was_left": "boolean",
}
# `ordered`: whether the output with the lower id was shown first, as far as the file says. That is
# the order of its columns unless it names which output was shown first.
ORIENTED = f"""
    SELECT file, line, run, criterion, least(f, s) AS output, greatest(f, s) AS rival, tie,
           CASE WHEN f < s THEN value ELSE 1 - value END AS value,
           (f < s) = coalesce(first_was_left, true) AS ordered
    FROM ({WITH_IDS.format(table="stage_verdict")}) AS resolved"""
COMBINED = f"""
    SELECT max(file) AS file, max(line) AS line, run, criterion, output, rival,
           avg(value) AS value, avg(tie) AS tie,
           CASE WHEN count(*) > 1 THEN avg(CASE WHEN ordered THEN value ELSE 1 - value END) END
               AS "left"
    FROM (SELECT max(file) AS file, max(line) AS line, run, criterion, output, rival, ordered,
                 avg(value) AS value, avg(tie) AS tie
          FROM ({ORIENTED}) AS o GROUP BY run, criterion, output, rival, ordered) AS by_order
    GROUP BY run, criterion, output, rival"""
KEYS = "run_id, output_id, rival_id, criterion_id"


class VerdictStage:
    """The verdicts of one load until they are merged."""

    def __init__(self) -> None:
        self.table = StagingTable("stage_verdict", COLUMNS)

    def add(
        self,
        file: int,
        row: PreferenceRow,
        outputs: Sequence[int | None],
        criterion: int | None,
        run: int,
    ) -> None:
        """Args:
        outputs: the two, by number within the load or by negative id.
        """
        value = 0.5 if not row.value else float(row.value > 0)
        tie = float(not row.value)
        place = (file, row.line, *outputs)
        self.table.add((*place, criterion, run, value, tie, row.first_was_left))

    def merge(self, tally: LoadTally, *, conflicts: Conflicts) -> None:
        """Insert new verdicts; those that contradict each other or existing verdicts are
        conflicts."""
        if not self.table.count:
            return
        conflicts(
            f"""SELECT max(file), max(line) FROM ({ORIENTED}) AS o
                GROUP BY run, criterion, output, rival, ordered
                HAVING count(DISTINCT value) > 1""",
            [],
            lambda: ("winner", contradictions.VERDICTS),
        )
        with connection.cursor() as cursor:
            cursor.execute("DROP TABLE IF EXISTS stage_combined")
            cursor.execute(f"CREATE TEMPORARY TABLE stage_combined ON COMMIT DROP AS {COMBINED}")
            pairs = cursor.rowcount
            cursor.execute("ANALYZE stage_combined")
            cursor.execute(f"""INSERT INTO evaluations_pairscore ({KEYS}, value, tie, "left")
                    SELECT run, output, rival, criterion, value, tie, "left" FROM stage_combined
                    ORDER BY file, line ON CONFLICT ({KEYS}) DO NOTHING""")
            tally.created = cursor.rowcount
        tally.unchanged = pairs - tally.created
        if tally.unchanged:
            conflicts(
                """SELECT c.file, c.line FROM stage_combined c JOIN evaluations_pairscore p
                    ON (p.run_id, p.output_id, p.rival_id) = (c.run, c.output, c.rival)
                   AND p.criterion_id IS NOT DISTINCT FROM c.criterion
                   WHERE p.value <> c.value OR p.tie <> c.tie""",
                [],
                lambda: (
                    "winner",
                    "contradicts this judge's existing verdict; load both orders together",
                ),
            )
