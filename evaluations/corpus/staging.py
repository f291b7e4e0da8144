"""Temporary tables that rows are copied into, so that only keys are held in memory."""

from typing import Any

from django.db import connection

# Merged outputs: their number within the load, and their id.
OUTPUT_IDS = "stage_output_id"
# Rows stay in memory until a chunk of them is copied.
CHUNK_ROWS = 20_000
CHUNK_BYTES = 8 * 2**20


class StagingTable:
    """A temporary table that rows are copied into in chunks."""

    def __init__(self, name: str, columns: dict[str, str]) -> None:
        self.name = name
        self.columns = columns
        self.rows: list[tuple[Any, ...]] = []
        self.bytes = 0
        self.count = 0
        with connection.cursor() as cursor:
            cursor.execute(f"DROP TABLE IF EXISTS {name}")
            described = ", ".join(f"{column} {kind}" for column, kind in columns.items())
            cursor.execute(f"CREATE TEMPORARY TABLE {name} ({described}) ON COMMIT DROP")

    def add(self, row: tuple[Any, ...], size: int = 0) -> None:
        self.rows.append(row)
        self.bytes += size
        self.count += 1
        if len(self.rows) >= CHUNK_ROWS or self.bytes >= CHUNK_BYTES:
            self.flush()

    def finish(self, *, index: str = "") -> None:
        """Write the remaining rows, and analyse the table for the planner.

        Args:
            index: columns by which other statements look rows up.
        """
        self.flush()
        with connection.cursor() as cursor:
            if index:
                cursor.execute(f"CREATE INDEX ON {self.name} ({index})")
            cursor.execute(f"ANALYZE {self.name}")

    def flush(self) -> None:
        if self.rows:
            with (
                connection.cursor() as cursor,
                cursor.copy(f"COPY {self.name} ({', '.join(self.columns)}) FROM STDIN") as copy,
            ):
                for row in self.rows:
                    copy.write_row(row)
        self.rows, self.bytes = [], 0
