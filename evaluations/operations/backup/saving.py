"""Back up the site while it works: everything as of one moment."""

import datetime
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.db import connection, transaction
from django.db.migrations.loader import MigrationLoader

from evaluations.models.sealing import fingerprint
from evaluations.operations.backup.counting import held_by_project, rows_by_table
from evaluations.operations.backup.programs import dumping, find_programs
from geval.files.backups.container import new_file, write_container
from geval.files.backups.errors import BackupError
from geval.files.backups.manifest import BackupManifest
from geval.texts.program import command
from geval_site.version import __version__

OURS = "evaluations"


def save(path: Path) -> BackupManifest:
    """Write a backup of the whole site; return its counts.

    Reading and writing continue meanwhile; the backup shows the moment at which it began. The file
    appears under its name only when complete.

    Raises:
        BackupError: the file exists or cannot be written, or the database cannot be dumped.
    """
    with new_file(path) as file:
        connection.ensure_connection()
        server = connection.connection.info.server_version
        programs = find_programs(
            connection.settings_dict, at_least=server, purpose="back up a server"
        )
        with snapshot() as name:
            manifest = BackupManifest(
                software=__version__,
                made_at=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
                postgresql=server,
                dumped_by=programs.version,
                migrations=last_migrations(),
                tables=rows_by_table(),
                projects=held_by_project(),
                secret_key=fingerprint(),
            )
            with dumping(programs, connection.settings_dict, name) as dump:
                return write_container(file, dump, manifest)


@contextmanager
def snapshot() -> Iterator[str]:
    """Hold a snapshot of the database; yield the name by which other connections can use it."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        # The connection is idle for as long as the dump takes.
        cursor.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
        cursor.execute("SELECT pg_export_snapshot()")
        yield cursor.fetchone()[0]


def last_migrations() -> dict[str, str]:
    """Return the last applied migration of each app.

    Raises:
        BackupError: this is not the database of a site.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT to_regclass('public.django_migrations') IS NOT NULL")
        applied = {}
        if cursor.fetchone()[0]:
            cursor.execute("SELECT app, max(name) FROM django_migrations GROUP BY app ORDER BY app")
            applied = dict(cursor.fetchall())
    if OURS not in applied:
        raise BackupError(
            f"The database holds no site; run {command('migrate')}, or see DATABASE_URL."
        )
    return applied


def known_migrations() -> dict[str, list[str]]:
    """Return the names of this version's migrations by app, in order."""
    known_migrations: dict[str, list[str]] = {}
    for app, name in sorted(MigrationLoader(None).graph.nodes):
        known_migrations.setdefault(app, []).append(name)
    return known_migrations
