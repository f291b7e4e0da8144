"""Stage and merge the probabilities with which outputs were chosen to be rated, as files state
them."""

from collections.abc import Mapping

from django.db import connection

from evaluations.corpus.staging import OUTPUT_IDS, StagingTable
from geval.files import contradictions
from geval.files.rows import FileErrors


class ProbabilityStage:
    """The probabilities of one load, one per rating that states one."""

    def __init__(self) -> None:
        self.table = StagingTable(
            "stage_probability",
            {
                "file": "int",
                "line": "int",
                "output": "bigint",
                "criterion": "bigint",
                "probability": "float8",
            },
        )

    def merge(self, *, errors: FileErrors, files: Mapping[int, str]) -> None:
        """Store the probabilities, replacing existing ones."""
        if not self.table.count:
            return
        resolved = f"""SELECT p.file, p.line, coalesce(o.id, -p.output) AS output_id,
                p.criterion AS criterion_id, p.probability
            FROM stage_probability p LEFT JOIN {OUTPUT_IDS} o ON o.number = p.output"""
        with connection.cursor() as cursor:
            cursor.execute(
                f"""SELECT file, line, probability, first FROM (
                        SELECT *, first_value(probability) OVER (
                            PARTITION BY output_id, criterion_id ORDER BY file, line) AS first
                        FROM ({resolved}) AS r) AS beside
                    WHERE probability <> first ORDER BY file, line LIMIT 100"""
            )
            for file, line, probability, first in cursor.fetchall():
                message = contradictions.PROBABILITIES.format(probability, first)
                errors.add(files[file], line, "probability", message)
            cursor.execute(
                f"""INSERT INTO annotations_statedprobability
                        (output_id, criterion_id, probability)
                    SELECT DISTINCT ON (output_id, criterion_id)
                        output_id, criterion_id, probability
                    FROM ({resolved}) AS r ORDER BY output_id, criterion_id, file, line
                    ON CONFLICT (output_id, criterion_id)
                        DO UPDATE SET probability = excluded.probability"""
            )
