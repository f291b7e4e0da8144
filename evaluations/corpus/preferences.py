"""Stage and merge uploaded preferences."""

from collections.abc import Callable, Sequence
from typing import Any

from django.db import connection

from evaluations.corpus.staging import OUTPUT_IDS, StagingTable
from geval.files import contradictions
from geval.files.load_results import LoadTally
from geval.files.rows import PreferenceRow

Conflicts = Callable[[str, Sequence[Any], Any], None]
COLUMNS = {
    "file": "int",
    "line": "int",
    "first": "bigint",
    "second": "bigint",
    "criterion": "bigint",
    "annotator": "bigint",
    "value": "smallint",
    "first_was_left": "boolean",
    "comment": "text",
}
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
KEYS = "output_a_id, output_b_id, criterion_id, annotator_id"


class PreferenceStage:
    """The preferences of one load until they are merged."""

    def __init__(self) -> None:
        self.table = StagingTable("stage_preference", COLUMNS)

    def add(
        self,
        file: int,
        row: PreferenceRow,
        outputs: Sequence[int | None],
        criterion: int | None,
        annotator: int,
    ) -> None:
        """Args:
        outputs: the two, by number within the load or by negative id.
        """
        values = (file, row.line, *outputs, criterion, annotator, row.value, row.first_was_left)
        self.table.add((*values, row.comment), len(row.comment))

    def merge(self, tally: LoadTally, *, conflicts: Conflicts, hidden: Sequence[int]) -> None:
        """Insert new rows; a row that contradicts an existing or another new row is a conflict.

        Args:
            hidden: documents whose preferences are withheld, and therefore not compared.
        """
        if not self.table.count:
            return
        with connection.cursor() as cursor:
            cursor.execute(f"""INSERT INTO annotations_preference
                        ({KEYS}, value, a_was_left, comment)
                    SELECT {KEYS}, value, a_was_left, comment FROM ({RESOLVED}) AS r
                    ORDER BY file, line
                    ON CONFLICT ({KEYS}) DO NOTHING""")
            tally.created = cursor.rowcount
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
