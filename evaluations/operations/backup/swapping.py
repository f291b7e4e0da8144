"""A new database next to the site's, and the swap in which it takes its place."""

import datetime
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from typing import Any

import psycopg
from django.db import DEFAULT_DB_ALIAS, connection, connections
from psycopg import sql

from geval.files.backups.errors import BackupError
from geval_site.databases import libpq_parameters

MAINTENANCE = ("postgres", "template1")
RESTORE_LOCK = 0x67657662  # any constant: one restore at a time of a database
LONGEST_NAME = 63
UNFINISHED, EARLIER = "_restoring", "_before_"
# Clients reconnect at once, and would be in the way of renaming the database.
BETWEEN_SECONDS = 0.1
STAMP, STAMPED = "%Y%m%d_%H%M%S", "20260131_120000"
# Options for creating a database; the columns differ between versions of PostgreSQL.
CREATED_WITH = """
    SELECT pg_encoding_to_char(encoding), datcollate, datctype,
           to_jsonb(d) ->> 'datlocprovider',
           coalesce(to_jsonb(d) ->> 'datlocale', to_jsonb(d) ->> 'daticulocale')
    FROM pg_database d WHERE datname = %s
"""
OTHERS = """
    SELECT pid FROM pg_stat_activity
    WHERE datname = %s AND backend_type = 'client backend' AND pid <> %s
"""
END_OTHERS = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s"


LEFT = """
    SELECT datname, pg_database_size(datname) FROM pg_database
    WHERE starts_with(datname, %s) OR datname = %s ORDER BY datname
"""


class Server:
    """The database server, connected to a database other than the site's."""

    def __init__(self, server: "psycopg.Connection[Any]", parameters: dict[str, str]) -> None:
        self.server = server
        self.parameters = parameters
        self.name = parameters["dbname"]
        self.unfinished = _suffixed(self.name, UNFINISHED)

    def others(self) -> int:
        """Return how many other connections the site's database has."""
        # Without our own connection, which may take a moment to end after it was closed.
        ours = connection.connection.info.backend_pid if connection.connection else 0
        return len(self.server.execute(OTHERS, [self.name, ours]).fetchall())

    def make_new(self) -> str:
        """Create an empty database with the encoding and collation of the site's; return its name.

        Leftovers of a killed restore are dropped first.
        """
        self.drop(self.unfinished)
        row = self.server.execute(CREATED_WITH, [self.name]).fetchone()
        assert row
        try:
            self.server.execute(_create(self.unfinished, *row))
        except psycopg.errors.InsufficientPrivilege:
            raise BackupError(
                "This user of the database may not create databases, which a restore needs. As an"
                " administrator of PostgreSQL, run ALTER ROLE … CREATEDB, or set DATABASE_URL to"
                " one that may."
            ) from None
        return self.unfinished

    def swap(self, *, disconnect: bool) -> str:
        """Put the new database in the place of the site's, in one transaction; return the new name
        of the previous one.

        Args:
            disconnect: end other connections to the site's database.

        Raises:
            BackupError: the site's database is in use; nothing has changed.
        """
        stamp = datetime.datetime.now(datetime.UTC).strftime(STAMP)
        earlier = _suffixed(self.name, EARLIER + stamp)
        connection.close()
        try:
            with self.server.transaction():
                # Prevents new connections, and waits five seconds for existing ones to end.
                with self._ending_others() if disconnect else nullcontext():
                    self.server.execute(_rename(self.name, earlier))
                self.server.execute(_rename(self.unfinished, self.name))
        except psycopg.errors.ObjectInUse:
            raise BackupError(in_use(self.others())) from None
        return earlier

    @contextmanager
    def _ending_others(self) -> Iterator[None]:
        """Keep ending others' connections, because clients that lose one reconnect."""
        enough = threading.Event()

        def end() -> None:
            # Connections of another user may not be ended; the renaming then fails and reports
            # them.
            with suppress(psycopg.Error), _connected(self.parameters) as second:
                while not enough.wait(BETWEEN_SECONDS):
                    second.execute(END_OTHERS, [self.name])

        ending = threading.Thread(target=end, daemon=True)
        ending.start()
        try:
            yield
        finally:
            enough.set()
            ending.join()

    def drop(self, name: str) -> None:
        """Drop a database if it exists, even if a killed program is still connected to it."""
        name_of_it = sql.Identifier(name)
        self.server.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(name_of_it))


@contextmanager
def server_of(database: dict[str, Any]) -> Iterator[Server]:
    """Connect to the server, allowing one restore of this database at a time.

    Raises:
        BackupError: the server cannot be reached, or another restore is running.
    """
    parameters = libpq_parameters(database)
    with _connected(parameters) as server:
        lock = "SELECT pg_try_advisory_lock(%s, hashtext(%s))"
        taken = server.execute(lock, [RESTORE_LOCK, parameters["dbname"]]).fetchone()
        if taken != (True,):
            raise BackupError("Another restore of this database is running; wait until it ends.")
        yield Server(server, parameters)


@contextmanager
def at_database(name: str) -> Iterator[dict[str, Any]]:
    """Redirect Django's connection to another database of the server; yield its settings."""
    settings = connections[DEFAULT_DB_ALIAS].settings_dict
    usual = settings["NAME"]
    connection.close()
    settings["NAME"] = name
    try:
        yield settings
    finally:
        connection.close()
        settings["NAME"] = usual


def left_behind() -> dict[str, int]:
    """Return databases that restores replaced or did not finish, with their bytes."""
    name = connection.settings_dict["NAME"]
    begin = _suffixed(name, EARLIER + STAMPED).removesuffix(STAMPED)
    with connection.cursor() as cursor:
        cursor.execute(LEFT, [begin, _suffixed(name, UNFINISHED)])
        return dict(cursor.fetchall())


def in_use(others: int) -> str:
    """Return the message if others are connected to the site's database."""
    return (
        f"{others} other connections use the database. Stop the site and its workers first, or end"
        " their connections with --disconnect and start them again afterwards."
    )


def _connected(parameters: dict[str, str]) -> "psycopg.Connection[Any]":
    for name in MAINTENANCE:
        try:
            return psycopg.connect(**(parameters | {"dbname": name}), autocommit=True)  # type: ignore[arg-type]
        except psycopg.OperationalError as error:
            reason = str(error).strip()
    raise BackupError(
        f"Restoring needs a connection to the server's database {MAINTENANCE[0]}: {reason}"
    )


def _create(
    name: str, encoding: str, collate: str, ctype: str, provider: str | None, locale: str | None
) -> sql.Composed:
    options = [("ENCODING", encoding), ("LC_COLLATE", collate), ("LC_CTYPE", ctype)]
    if provider in ("i", "b") and locale:
        kind = {"i": "icu", "b": "builtin"}[provider]
        options += [("LOCALE_PROVIDER", kind), (f"{kind.upper()}_LOCALE", locale)]
    written = sql.SQL(" ").join(
        sql.SQL("{} {}").format(sql.SQL(option), sql.Literal(value)) for option, value in options
    )
    return sql.SQL("CREATE DATABASE {} TEMPLATE template0 {}").format(sql.Identifier(name), written)


def _rename(old: str, new: str) -> sql.Composed:
    names = sql.Identifier(old), sql.Identifier(new)
    return sql.SQL("ALTER DATABASE {} RENAME TO {}").format(*names)


def _suffixed(name: str, suffix: str) -> str:
    return name[: LONGEST_NAME - len(suffix)] + suffix
