"""What a load needs of PostgreSQL: temporary tables that rows are copied into, so that only keys
are held in memory, and settings for its statements, which are limited in time, ended when their
client dies, and planned for many rows.

Autovacuum may analyse a table while a load fills it. It sees no row of the open transaction, so the
planner then expects none, and compares each staged row with every row of the table: minutes for ten
thousand rows, hours for more. Without nested loops, the cost of every plan stays proportional to
the rows.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import groupby
from typing import Any

from django.conf import settings
from django.db import DatabaseError, connection, transaction
from django.db.utils import OperationalError
from psycopg.errors import QueryCanceled

from geval_site.sql import execute_sql, fetch_row, fetch_value

# Merged outputs: their number within the load, and their id.
OUTPUT_IDS = "stage_output_id"
# Rows stay in memory until a chunk of them is copied.
CHUNK_ROWS = 20_000
CHUNK_BYTES = 8 * 2**20
# From this many rows on, reading whole tables is always faster than a lookup per row.
MANY_ROWS = 1000
# How often a server process checks for its client; it keeps its locks until then.
CHECK_EVERY = "2s"
# For clients on other machines that vanish without closing their connection.
KEEPALIVES = {
    "tcp_keepalives_idle": "60",
    "tcp_keepalives_interval": "10",
    "tcp_keepalives_count": "6",
}
TOO_LONG = (
    "loading stopped at “{}”: one statement took longer than {} s, which is the limit"
    " (GEVAL_LOAD_STATEMENT_SECONDS); split the files, or raise the limit"
)


class StagingTable:
    """A temporary table that rows are copied into in chunks.

    Args:
        columns: names and types, as in CREATE TABLE.
    """

    def __init__(self, name: str, columns: str) -> None:
        self.name = name
        self.rows: list[tuple[Any, ...]] = []
        self.bytes = 0
        self.count = 0
        execute_sql(f"DROP TABLE IF EXISTS {name}")
        execute_sql(f"CREATE TEMPORARY TABLE {name} ({columns}) ON COMMIT DROP")

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
        if index:
            execute_sql(f"CREATE INDEX ON {self.name} ({index})")
        execute_sql(f"ANALYZE {self.name}")

    def flush(self) -> None:
        if self.rows:
            with (
                connection.cursor() as cursor,
                cursor.copy(f"COPY {self.name} FROM STDIN") as copy,
            ):
                for row in self.rows:
                    copy.write_row(row)
        self.rows, self.bytes = [], 0


class CreatedRows:
    """The ids of the rows that a load created, by table, as PostgreSQL writes ranges."""

    def __init__(self) -> None:
        self._ranges: dict[str, list[str]] = {}

    def insert(self, table: str, statement: str, parameters: Sequence[Any] | None = None) -> int:
        """Execute an INSERT into a table; return how many rows it created."""
        count, ranges = fetch_row(
            f"""WITH created AS ({statement} RETURNING id)
                SELECT count(*), range_agg(int8range(id, id, '[]'))::text FROM created""",
            parameters,
        )
        if count:
            self._ranges.setdefault(table, []).append(ranges)
        return int(count)

    def note(self, table: str, pk: int) -> None:
        """Note a row that was created in another way."""
        self.note_all(table, [pk])

    def note_all(self, table: str, pks: Iterable[int]) -> None:
        """Note rows that were created in another way; most of their ids follow each other."""
        apart = groupby(enumerate(sorted(pks)), lambda pair: pair[1] - pair[0])
        for _key, together in apart:
            ids = [pk for _place, pk in together]
            self._ranges.setdefault(table, []).append(f"{{[{ids[0]},{ids[-1]}]}}")

    @property
    def ranges(self) -> dict[str, str]:
        return {
            table: f"{{{','.join(written[1:-1] for written in parts)}}}"
            for table, parts in self._ranges.items()
        }


class StatementTimeError(Exception):
    """A statement of a load took longer than the site allows; the message names the step."""


class Steps:
    """The steps of a load. `now` is the current step; `watch` is called at the start of each."""

    def __init__(self, watch: Callable[[str], None]) -> None:
        self.now = "waiting for another load into this project"
        self.watch = watch

    def begin(self, step: str) -> None:
        self.now = step
        self.watch(step)


@contextmanager
def limited_statements(steps: Steps) -> Iterator[None]:
    """Limit the time of each statement in the block, and end it if this process dies. Use it in a
    transaction.

    Raises:
        StatementTimeError: a statement exceeded its time limit.
    """
    before = _setting("statement_timeout")
    _set("statement_timeout", f"{settings.LOAD_STATEMENT_SECONDS}s")
    # Servers on some systems cannot check connections, and reject the setting.
    with suppress(DatabaseError), transaction.atomic():
        _set("client_connection_check_interval", CHECK_EVERY)
    for name, value in KEEPALIVES.items():
        _set(name, value)
    try:
        yield
    except OperationalError as error:
        if not isinstance(error.__cause__, QueryCanceled):
            raise
        message = TOO_LONG.format(steps.now, settings.LOAD_STATEMENT_SECONDS)
        raise StatementTimeError(message) from error
    _set("statement_timeout", before)


@contextmanager
def planned_for(rows: int) -> Iterator[None]:
    """Plan the statements of the block for this many rows, whatever the tables' statistics say."""
    before = _setting("enable_nestloop")
    if rows > MANY_ROWS:
        _set("enable_nestloop", "off")
    yield
    _set("enable_nestloop", before)


def _setting(name: str) -> str:
    return str(fetch_value("SELECT current_setting(%s)", [name]))


def _set(name: str, value: str) -> None:
    """Set a server parameter until the transaction ends."""
    execute_sql("SELECT set_config(%s, %s, true)", [name, value])
