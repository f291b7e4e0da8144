"""Stage and merge what files say beside ratings and scores: people's preferences, judges' verdicts
on pairs, and the probabilities with which outputs were chosen to be rated.

A judge may have been asked in both orders, with a row for each. Both together are one verdict, as
in runs of our own pairwise judges: the mean, and how much of it went to the text shown first.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from evaluations.corpus.load_statements import OUTPUT_IDS, CreatedRows, StagingTable
from geval.files import contradictions
from geval.files.load_results import LoadTally
from geval.files.rows import FileErrors, PreferenceRow, ShareRow
from geval_site.sql import execute_sql, fetch_rows

Conflicts = Callable[[str, Sequence[Any], Any], None]
# Where a row is, both outputs (by number within the load or by negative id) and the criterion.
PairPlace = tuple[int, int, int | None, int | None, int | None]
PAIR_PLACE = "file int, line int, first bigint, second bigint, criterion bigint"
# Both outputs by their ids, in the order of the rows.
WITH_IDS = f"""
    SELECT p.*, coalesce(o1.id, -p.first) AS f, coalesce(o2.id, -p.second) AS s
    FROM {{table}} p
      LEFT JOIN {OUTPUT_IDS} o1 ON o1.number = p.first
      LEFT JOIN {OUTPUT_IDS} o2 ON o2.number = p.second"""
# The lower id becomes "a"; swapping the outputs negates the value.
RESOLVED = f"""
    SELECT file, line, least(f, s) AS output_a_id, greatest(f, s) AS output_b_id,
        criterion AS criterion_id,
           annotator AS annotator_id, CASE WHEN f < s THEN value ELSE -value END AS value,
           CASE WHEN f < s THEN first_was_left ELSE NOT first_was_left END AS a_was_left, comment
    FROM ({WITH_IDS.format(table="stage_preference")}) AS resolved"""
PREFERENCE_KEYS = "output_a_id, output_b_id, criterion_id, annotator_id"
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
VERDICT_KEYS = "run_id, output_id, rival_id, criterion_id"


class PreferenceStage:
    """The preferences of one load until they are merged."""

    def __init__(self) -> None:
        columns = "annotator bigint, value smallint, first_was_left boolean, comment text"
        self.table = StagingTable("stage_preference", f"{PAIR_PLACE}, {columns}")

    def add(self, place: PairPlace, row: PreferenceRow, annotator: int) -> None:
        values = (annotator, row.value, row.first_was_left, row.comment)
        self.table.add((*place, *values), len(row.comment))

    def merge(
        self,
        tally: LoadTally,
        created: CreatedRows,
        *,
        conflicts: Conflicts,
        hidden: Sequence[int],
    ) -> None:
        """Insert new rows; a row that contradicts an existing or another new row is a conflict.

        Args:
            hidden: documents whose preferences are withheld, and therefore not compared.
        """
        if not self.table.count:
            return
        tally.created = created.insert(
            "annotations_preference",
            f"""INSERT INTO annotations_preference
                        ({PREFERENCE_KEYS}, value, a_was_left, comment)
                    SELECT {PREFERENCE_KEYS}, value, a_was_left, comment FROM ({RESOLVED}) AS r
                    ORDER BY file, line
                    ON CONFLICT ({PREFERENCE_KEYS}) DO NOTHING""",
        )
        tally.unchanged = self.table.count - tally.created
        if tally.unchanged:
            conflicts(
                f"""WITH r AS MATERIALIZED ({RESOLVED})
                    SELECT r.file, r.line FROM r JOIN annotations_preference p
                    ON (p.output_a_id, p.output_b_id, p.annotator_id) = (r.output_a_id,
                        r.output_b_id, r.annotator_id)
                   AND p.criterion_id IS NOT DISTINCT FROM r.criterion_id
                       WHERE p.value <> r.value
                         AND NOT EXISTS (SELECT FROM evaluations_candidateoutput o
                             WHERE o.id = p.output_a_id AND o.document_id = ANY(%s::bigint[]))""",
                [list(hidden)],
                lambda: ("winner", contradictions.PREFERENCES),
            )


class VerdictStage:
    """The verdicts of one load until they are merged."""

    def __init__(self) -> None:
        columns = "run bigint, value float8, tie float8, first_was_left boolean"
        self.table = StagingTable("stage_verdict", f"{PAIR_PLACE}, {columns}")

    def add(self, place: PairPlace, row: PreferenceRow, run: int) -> None:
        value = 0.5 if not row.value else float(row.value > 0)
        tie = float(not row.value)
        if isinstance(row, ShareRow):
            value, tie = row.share, row.tie
        self.table.add((*place, run, value, tie, row.first_was_left))

    def merge(self, tally: LoadTally, created: CreatedRows, *, conflicts: Conflicts) -> None:
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
        execute_sql("DROP TABLE IF EXISTS stage_combined")
        pairs = execute_sql(f"CREATE TEMPORARY TABLE stage_combined ON COMMIT DROP AS {COMBINED}")
        execute_sql("ANALYZE stage_combined")
        tally.created = created.insert(
            "evaluations_pairscore",
            f"""INSERT INTO evaluations_pairscore ({VERDICT_KEYS}, value, tie, "left")
                SELECT run, output, rival, criterion, value, tie, "left" FROM stage_combined
                ORDER BY file, line ON CONFLICT ({VERDICT_KEYS}) DO NOTHING""",
        )
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


class ProbabilityStage:
    """The probabilities of one load, one per rating that states one."""

    def __init__(self) -> None:
        self.table = StagingTable(
            "stage_probability",
            "file int, line int, output bigint, criterion bigint, probability float8",
        )

    def merge(self, *, errors: FileErrors, files: Mapping[int, str]) -> None:
        """Store the probabilities, replacing existing ones."""
        if not self.table.count:
            return
        resolved = f"""SELECT p.file, p.line, coalesce(o.id, -p.output) AS output_id,
                p.criterion AS criterion_id, p.probability
            FROM stage_probability p LEFT JOIN {OUTPUT_IDS} o ON o.number = p.output"""
        rows = fetch_rows(
            f"""SELECT file, line, probability, first FROM (
                    SELECT *, first_value(probability) OVER (
                        PARTITION BY output_id, criterion_id ORDER BY file, line) AS first
                    FROM ({resolved}) AS r) AS beside
                WHERE probability <> first ORDER BY file, line LIMIT 100"""
        )
        for file, line, probability, first in rows:
            message = contradictions.PROBABILITIES.format(probability, first)
            errors.add(files[file], line, "probability", message)
        execute_sql(
            f"""INSERT INTO annotations_statedprobability
                    (output_id, criterion_id, probability)
                SELECT DISTINCT ON (output_id, criterion_id)
                    output_id, criterion_id, probability
                FROM ({resolved}) AS r ORDER BY output_id, criterion_id, file, line
                ON CONFLICT (output_id, criterion_id)
                    DO UPDATE SET probability = excluded.probability"""
        )
