"""The site in one file, by PostgreSQL's own pg_dump and pg_restore: written while the site works,
restored all or nothing."""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from django.core.management import call_command
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from psycopg.conninfo import make_conninfo

from geval_site.databases import EMBEDDED, libpq_parameters
from geval_site.embedded.paths import EmbeddedServerError
from geval_site.embedded.programs import packaged_programs
from geval_site.sql import execute_sql, fetch_row

# Debian's packages of several versions, which are not in PATH by their version.
DEBIANS = Path("/usr/lib/postgresql")
# Sessions could be used by whoever reads a backup; messages of the queue only wake workers.
LEFT_OUT = ("--exclude-table-data=public.django_session", "--exclude-schema=pgmq")
# Before PostgreSQL 17 servers do not know this setting, which newer programs write.
NEW_SETTING, KNOWN_FROM, HEAD_BYTES = b"SET transaction_timeout = 0;\n", 17, 4096
# Tables of a site that works are locked.
EMPTIED = "SET LOCAL lock_timeout = '5s'; DROP SCHEMA public CASCADE; CREATE SCHEMA public;\n"


class BackupError(Exception):
    """A backup was not made or does not fit; the message says what to do."""


def save(path: Path) -> None:
    """Write a backup of the whole site as of now; it appears under its name once it is complete.

    Raises:
        BackupError: the file exists or cannot be written, or the database cannot be dumped.
    """
    if os.path.lexists(path):
        raise BackupError(f"{path} already exists; choose another name.")
    if "django_migrations" not in _tables():
        raise BackupError("The database holds no site; see DATABASE_URL.")
    try:
        # Readable by its owner alone.
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f"{path.name}.") as draft:
            _run("pg_dump", "--format=custom", *LEFT_OUT, *_connected(), stdout=draft)
            os.fsync(draft.fileno())
            os.link(draft.name, path)
    except OSError as error:
        raise BackupError(f"{path} cannot be written: {error.strerror or error}.") from None


def restore(path: Path, *, replace: bool) -> list[str]:
    """Put a backup in the place of the site's database, in one transaction; then migrate it.

    Args:
        replace: whether what the database holds may go.

    Returns:
        Apps whose tables this site does not use.

    Raises:
        BackupError: the file is no backup, damaged or newer than this version, or the database is
            not empty, in use or refuses something; nothing has changed.
    """
    unused = _check(path)
    tables = _tables()
    if not replace and not _is_empty(tables):
        raise BackupError(
            "The database is not empty. Restore into another one (DATABASE_URL), or back it up and"
            " use --replace, which removes what it holds."
        )
    # As SQL in whole first, which reads the file to its end.
    with tempfile.NamedTemporaryFile() as sql:
        _run("pg_restore", "--no-owner", "--no-privileges", "--no-comments", "--file", sql.name,
             str(path))  # fmt: skip
        place = sql.read(HEAD_BYTES).find(NEW_SETTING)
        if place >= 0 and _server_major() < KNOWN_FROM:
            sql.seek(place)
            sql.write(b"-- ")
            sql.flush()
        emptied = ("--command", EMPTIED) if tables else ()
        connection.close()
        _run("psql", "--no-psqlrc", "--quiet", "--output", os.devnull, "--set=ON_ERROR_STOP=1",
             "--single-transaction", *emptied, "--file", sql.name, *_connected())  # fmt: skip
    call_command("migrate", verbosity=0, interactive=False)
    execute_sql("ANALYZE")
    return unused


def _check(path: Path) -> list[str]:
    """Check that a file is a backup whose tables this version knows.

    Returns:
        Apps with tables in the backup that are not installed here.

    Raises:
        BackupError: it is not.
    """
    try:
        if path.open("rb").read(4) == b"PK\x03\x04":
            raise BackupError(
                f"{path} is of an earlier version: restore what `unzip -p {path} database.dump >"
                " site.dump` writes."
            )
    except OSError as error:
        raise BackupError(f"{path} cannot be read: {error.strerror or error}.") from None
    with tempfile.TemporaryFile() as rows:
        _run("pg_restore", "--data-only", "--table=django_migrations", "--file=-", str(path),
             stdout=rows)  # fmt: skip
        rows.seek(0)
        applied = re.findall(r"^\d+\t(\w+)\t(\w+)\t", rows.read().decode(), re.MULTILINE)
    migrations = set(MigrationLoader(None).graph.nodes)
    apps = {app for app, _name in migrations}
    if not any(app == "evaluations" for app, _name in applied):
        raise BackupError(f"{path} is no backup of a site.")
    if unknown := [" ".join(of) for of in applied if of[0] in apps and of not in migrations]:
        raise BackupError(
            "This backup is of a newer version, with tables that this one does not know"
            f" ({', '.join(unknown)}). Install that version or a later one, and restore again."
        )
    return sorted({app for app, _name in applied} - apps)


def _tables() -> list[str]:
    with connection.cursor() as cursor:
        return connection.introspection.table_names(cursor)


def _is_empty(tables: Sequence[str]) -> bool:
    """Whether a database has no project and no user, and no tables of something else."""
    if not {"evaluations_project", "auth_user"} <= set(tables):
        return not tables
    people = "SELECT 1 FROM evaluations_project UNION ALL SELECT 1 FROM auth_user LIMIT 1"
    return fetch_row(people) is None


def _server_major() -> int:
    connection.ensure_connection()
    major: int = connection.connection.info.server_version // 10_000
    return major


def _folder(program: str) -> Path:
    """Return the folder of PostgreSQL's programs for a program: the newest for pg_restore, which
    reads files of any earlier version; for what connects, of the server's version or a later one,
    and the system's before the packaged, which cannot encrypt."""
    needed, folders = _server_major(), []
    if connection.settings_dict["ENGINE"] != EMBEDDED:
        in_path = shutil.which("pg_dump")
        folders = [Path(in_path).parent] if in_path else []
        folders += sorted(DEBIANS.glob("[1-9]*/bin"), key=lambda of: -float(of.parent.name))
    with suppress(EmbeddedServerError):
        folders.append(packaged_programs())
    versions = {folder: _major_of(folder / program) for folder in folders}
    fitting = [folder for folder in folders if versions[folder] >= needed]
    if not fitting:
        raise BackupError(
            f"The programs of PostgreSQL {needed} or later are needed: install them (on Debian"
            f" postgresql-client-{needed}), with pg_dump in PATH."
        )
    return max(fitting, key=lambda of: versions[of]) if program == "pg_restore" else fitting[0]


def _major_of(program: Path) -> int:
    """Return a program's major version; 0 if it is missing."""
    if not program.exists():
        return 0
    version = subprocess.run([program, "--version"], check=False, capture_output=True, text=True)
    major = re.search(r"\(PostgreSQL\) (\d+)", version.stdout)
    return int(major[1]) if major else 0


def _connected() -> list[str]:
    parameters: dict[str, Any] = libpq_parameters(connection.settings_dict)
    if hidden := parameters.keys() & {"sslpassword", "oauth_client_secret"}:
        raise BackupError(
            f"The list of processes would show {', '.join(hidden)} of DATABASE_URL: put it into a"
            " service file of PostgreSQL (service=…, PGSERVICEFILE)."
        )
    return ["--no-password", "--dbname", make_conninfo(**parameters | {"password": None})]


def _run(program: str, *arguments: str, stdout: IO[bytes] | None = None) -> None:
    """Run one of PostgreSQL's programs.

    Raises:
        BackupError: it failed, with its last lines.
    """
    command = [str(_folder(program) / program), *arguments]
    password = libpq_parameters(connection.settings_dict).get("password")
    environment = {**os.environ, "LC_ALL": "C", **({"PGPASSWORD": password} if password else {})}
    with tempfile.TemporaryFile() as errors:
        done = subprocess.run(command, check=False, stdout=stdout, stderr=errors, env=environment)
        if done.returncode:
            errors.seek(0)
            lines = errors.read().decode("utf-8", "replace").strip().splitlines()
            raise BackupError(f"{program} failed: {' / '.join(lines[-5:])}")
