"""Restore a backup into a new database, which replaces the site's when complete."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from django.core.management import call_command
from django.db import connection

from evaluations.models.sealing import fingerprint
from evaluations.operations.backup.counting import NOT_IN_A_BACKUP, rows_by_table
from evaluations.operations.backup.programs import BackupPrograms, find_programs, load_dump
from evaluations.operations.backup.saving import known_migrations
from evaluations.operations.backup.swapping import Server, at_database, in_use, server_of
from geval.files.backups.container import copy_dump, verify
from geval.files.backups.errors import BackupError
from geval.files.backups.manifest import (
    BackupManifest,
    is_older,
    unknown_migrations,
    version_words,
)
from geval_site.version import __version__

Say = Callable[[str], None]
# A site in use has at least one row in one of these tables.
TELLING_TABLES = ("evaluations_project", "auth_user")


def restore(path: Path, *, replace: bool, disconnect: bool, drop: bool, say: Say) -> BackupManifest:
    """Replace the site's database with the contents of a backup.

    The backup is verified first, then restored next to the site's database, which keeps working.
    They are swapped in one transaction: a killed restore has either changed nothing or is complete.

    Args:
        replace: whether the database may already contain a site, which is kept under another name.
        disconnect: whether to end other connections to it.
        drop: whether to drop what was replaced.
        say: reports progress.

    Raises:
        BackupError: the backup is damaged or made by a newer version, or the database is in use,
            not empty, or rejects a statement.
    """
    manifest = verify(path)
    older = _fits(manifest)
    say(f"{path} is complete: made {manifest.made_at} by geval_site {manifest.software}.")
    empty = is_empty()
    if not empty and not replace:
        raise BackupError(
            "The database is not empty. Restore into another one (DATABASE_URL), or use --replace:"
            " what is there now is then kept in a database beside it."
        )
    version = connection.connection.info.server_version
    programs = find_programs(
        connection.settings_dict, at_least=manifest.dumped_by, purpose="restore a backup"
    )
    _warn_of_older_server(manifest, version, say)
    with server_of(connection.settings_dict) as server:
        if not disconnect and (others := server.others()):
            raise BackupError(in_use(others))
        _fill(server, path, manifest, programs, version, older=older, say=say)
        earlier = server.swap(disconnect=disconnect)
        if empty or drop:
            server.drop(earlier)
        else:
            say(f"What was there before is in the database {earlier}, until somebody drops it.")
    _say_what_is_left(manifest, say)
    return manifest


def is_empty() -> bool:
    """Whether the database contains no project and no user; one with other tables is not empty."""
    with connection.cursor() as cursor:
        tables = connection.introspection.table_names(cursor)
        if not set(TELLING_TABLES) <= set(tables):
            return not tables
        cursor.execute(
            " UNION ALL ".join(f"(SELECT 1 FROM {table} LIMIT 1)" for table in TELLING_TABLES)
        )
        return cursor.fetchone() is None


def _fits(manifest: BackupManifest) -> bool:
    """Return whether a backup is older than this software.

    Raises:
        BackupError: the backup is newer.
    """
    migrations = known_migrations()
    unknown = unknown_migrations(manifest.migrations, migrations)
    if unknown:
        listed = ", ".join(f"{app} {name}" for app, name in unknown.items())
        raise BackupError(
            f"This backup is of a newer version: it was made by geval_site {manifest.software}, and"
            f" this is {__version__}, which does not know its tables ({listed}). Install"
            f" geval_site {manifest.software} or later, and restore again."
        )
    return is_older(manifest.migrations, {app: names[-1] for app, names in migrations.items()})


def _fill(
    server: Server,
    path: Path,
    manifest: BackupManifest,
    programs: BackupPrograms,
    version: int,
    *,
    older: bool,
    say: Say,
) -> None:
    """Create the new database, complete and migrated to this version."""
    name = server.make_new()
    say("Restoring into a new database; the site's stays as it is until then.")
    try:
        with at_database(name) as settings:
            load_dump(programs, settings, server=version, copy=partial(copy_dump, path))
            _compare(manifest)
            if older:
                say("The backup is of an older version: its tables are being migrated.")
            call_command("migrate", verbosity=0, interactive=False)
            with connection.cursor() as cursor:
                # Backups of earlier versions contain sessions.
                cursor.execute(f"TRUNCATE {NOT_IN_A_BACKUP}")
                cursor.execute("ANALYZE")
    except BaseException:
        server.drop(name)
        raise


def _compare(manifest: BackupManifest) -> None:
    rows = rows_by_table()
    wrong = [
        f"{table} has {rows.get(table, 0)} rows, not {count}"
        for table, count in manifest.tables.items()
        if rows.get(table, 0) != count and table != NOT_IN_A_BACKUP
    ]
    if wrong:
        raise BackupError(f"The backup was not restored completely: {'; '.join(wrong)}.")


def _warn_of_older_server(manifest: BackupManifest, version: int, say: Say) -> None:
    if version // 10_000 < manifest.postgresql // 10_000:
        say(
            f"The backup is from PostgreSQL {version_words(manifest.postgresql)}, this server is"
            f" the older {version_words(version)}; if it refuses something, nothing is changed."
        )


def _say_what_is_left(manifest: BackupManifest, say: Say) -> None:
    unused = sorted(set(manifest.migrations) - set(known_migrations()))
    if unused:
        say(f"Not switched on here, so that their tables are unused: {', '.join(unused)}.")
    if manifest.secret_key != fingerprint():
        say(
            "This site's secret key is not that of the backup: set GEVAL_SECRET_KEY (or the file"
            " secret_key in the data folder) to the earlier one, or enter the keys of endpoints"
            " again."
        )
    say("Done. Runs that were in progress resume once workers run. People sign in again.")
