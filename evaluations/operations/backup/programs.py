"""PostgreSQL's own programs: their location, version and execution."""

import os
import re
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from psycopg.conninfo import make_conninfo

from evaluations.operations.backup.counting import NOT_IN_A_BACKUP
from geval.files.backups.errors import BackupError
from geval.files.backups.manifest import NUMBER_OF_MAJOR, version_words
from geval_site.databases import EMBEDDED, libpq_parameters
from geval_site.embedded.errors import EmbeddedServerError
from geval_site.embedded.programs import packaged_programs

# The newest of several versions installed by Debian's packages, which are not individually in PATH.
DEBIANS = Path("/usr/lib/postgresql")
# The last lines name the cause.
SAID_LINES = 8
# libpq parameters.
WITHOUT_VARIABLE = ("sslpassword", "oauth_client_secret")
SECRETS = ("password", *WITHOUT_VARIABLE)
SERVICE = "site"
# Older servers reject this setting, which newer programs write at the beginning.
NEW_SETTING, KNOWN_FROM = b"SET transaction_timeout = 0;\n", 170_000
FIRST_OBJECT = b"-- Name: "


@dataclass(frozen=True)
class BackupPrograms:
    """A folder with pg_dump, pg_restore and psql, and their version number."""

    folder: Path
    version: int


def find_programs(database: Mapping[str, Any], *, at_least: int, purpose: str) -> BackupPrograms:
    """Return PostgreSQL's programs for a database, of this major version or a later one.

    For the embedded server these are its own programs; for others the system's take precedence over
    the bundled ones, which cannot encrypt connections.

    Args:
        database: Django's settings of the database.
        at_least: a version number whose major version is required.
        purpose: for the error, such as "back up a server".

    Raises:
        BackupError: all programs are older.
    """
    seen = []
    for folder in _folders(embedded=database["ENGINE"] == EMBEDDED):
        version = _version(folder)
        if version // NUMBER_OF_MAJOR >= at_least // NUMBER_OF_MAJOR:
            return BackupPrograms(folder, version)
        if version:
            seen.append(f"{version_words(version)} in {folder}")
    major = at_least // NUMBER_OF_MAJOR
    raise BackupError(
        f"PostgreSQL's programs are too old to {purpose} of version {major}: found"
        f" {', '.join(seen) or 'none'}. Install those of PostgreSQL {major} (on Debian"
        f" postgresql-client-{major}), with pg_dump in PATH."
    )


@contextmanager
def dumping(
    programs: BackupPrograms, database: Mapping[str, Any], snapshot: str
) -> Iterator[IO[bytes]]:
    """Yield the output of pg_dump, which shows the database as of a snapshot.

    Raises:
        BackupError: at the end, if pg_dump failed.
    """
    command = (
        programs.folder / "pg_dump", "--format=custom", "--no-owner", "--no-privileges",
        "--exclude-schema=pgmq", f"--exclude-table-data=public.{NOT_IN_A_BACKUP}",
        f"--snapshot={snapshot}", "--no-password", "--dbname", _conninfo(database),
    )  # fmt: skip
    with _running(command, database, stdout=subprocess.PIPE) as running:
        yield running.output


def load_dump(
    programs: BackupPrograms,
    database: Mapping[str, Any],
    *,
    server: int,
    copy: Callable[[Any], None],
) -> None:
    """Load a dump into an empty database: one program writes SQL, the other executes it.

    Args:
        server: the version number of the server.
        copy: writes the dump to the given file.

    Raises:
        BackupError: a program failed.
    """
    unpack = (
        programs.folder / "pg_restore", "--no-owner", "--no-privileges", "--no-comments",
        "--file=-",
    )  # fmt: skip
    send = (
        programs.folder / "psql", "--no-psqlrc", "--quiet", "--no-password", "--output", os.devnull,
        "--set=ON_ERROR_STOP=1", "--dbname", _conninfo(database),
    )  # fmt: skip
    with (
        _running(send, database, stdin=subprocess.PIPE) as sender,
        _running(unpack, database, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as unpacker,
    ):
        feeding = _Feeding(copy, unpacker.input)
        try:
            _copy_sql(unpacker.output, sender.input, server=server)
            sender.input.close()
        except BrokenPipeError:
            # psql has ended and will report why; nobody reads the rest of the SQL.
            unpacker.is_excused = True
        unpacker.output.close()
        feeding.end()


class _Feeding(threading.Thread):
    """Writes the dump while its SQL is read."""

    def __init__(self, copy: Callable[[Any], None], target: Any) -> None:
        super().__init__(daemon=True)
        self.copy, self.target = copy, target
        self.error: Exception | None = None
        self.start()

    def run(self) -> None:
        try:
            self.copy(self.target)
        except Exception as error:
            self.error = error

    def end(self) -> None:
        self.join()
        if self.error:
            raise self.error


def _copy_sql(source: IO[bytes], target: IO[bytes], *, server: int) -> None:
    for line in source:
        if line != NEW_SETTING or server >= KNOWN_FROM:
            target.write(line)
        if line.startswith(FIRST_OBJECT):
            break
    shutil.copyfileobj(source, target, 2**20)


class _Running:
    """A running program; `is_excused` if its exit status does not matter."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self.process = process
        self.is_excused = False

    @property
    def input(self) -> IO[bytes]:
        assert self.process.stdin
        return self.process.stdin

    @property
    def output(self) -> IO[bytes]:
        assert self.process.stdout
        return self.process.stdout


@contextmanager
def _running(
    command: Sequence[str | Path],
    database: Mapping[str, Any],
    *,
    stdin: int = subprocess.DEVNULL,
    stdout: int | None = None,
) -> Iterator[_Running]:
    with tempfile.TemporaryFile() as output, _secrets(database) as secrets:
        process = subprocess.Popen(
            list(map(str, command)), stdin=stdin, stdout=stdout, stderr=output,
            env={**os.environ, "LC_ALL": "C", **secrets},
        )  # fmt: skip
        running = _Running(process)
        try:
            yield running
        except BaseException:
            process.kill()
            raise
        finally:
            for pipe in (process.stdin, process.stdout):
                with suppress(BrokenPipeError):
                    if pipe:
                        pipe.close()
            process.wait()
        if process.returncode and not running.is_excused:
            output.seek(0)
            text = output.read().decode("utf-8", "replace")
            raise BackupError(_complaint(Path(command[0]).name, text))


def _complaint(program: str, stderr: str) -> str:
    lines = [line for line in stderr.strip().splitlines() if line][-SAID_LINES:]
    advice = (
        " Install PostgreSQL's client programs (on Debian postgresql-client): the bundled ones"
        " cannot encrypt connections."
        if "SSL support is not compiled in" in stderr
        else ""
    )
    return f"{program} failed: {' / '.join(lines) or 'it says nothing'}.{advice}"


def _folders(*, embedded: bool) -> Iterator[Path]:
    if not embedded:
        in_path = shutil.which("pg_dump")
        if in_path:
            yield Path(in_path).parent
        versions = (folder for folder in DEBIANS.glob("*/bin") if folder.parent.name.isdigit())
        yield from sorted(versions, key=lambda folder: -int(folder.parent.name))
    with suppress(EmbeddedServerError):
        yield packaged_programs()


def _version(folder: Path) -> int:
    """Return the version number of the programs in a folder; 0 if one of them is missing."""
    try:
        lines = [
            subprocess.run(
                [folder / name, "--version"], capture_output=True, text=True, check=True
            ).stdout
            for name in ("pg_dump", "pg_restore", "psql")
        ]
    except (OSError, subprocess.CalledProcessError):
        return 0
    numbers = [re.search(r"\(PostgreSQL\) (\d+)(?:\.(\d+))?", text) for text in lines]
    return min(
        int(number[1]) * NUMBER_OF_MAJOR + int(number[2] or 0) if number else 0
        for number in numbers
    )


def _conninfo(database: Mapping[str, Any]) -> str:
    """Return the connection string without secrets, which other users could see in the list of
    processes."""
    parameters: dict[str, Any] = libpq_parameters(database)
    service = {"service": SERVICE} if _has_secrets_without_variable(parameters) else {}
    return make_conninfo(**parameters | dict.fromkeys(SECRETS) | service)


@contextmanager
def _secrets(database: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    """Return the environment that passes a connection's secrets to a program: libpq has a variable
    for the password; other secrets need a file readable only by this user."""
    parameters = libpq_parameters(database)
    variables = {"PGPASSWORD": parameters["password"]} if "password" in parameters else {}
    if not _has_secrets_without_variable(parameters):
        yield variables
        return
    with tempfile.NamedTemporaryFile("w") as file:
        lines = [f"{name}={parameters[name]}" for name in WITHOUT_VARIABLE if name in parameters]
        file.write("\n".join([f"[{SERVICE}]", *lines, ""]))
        file.flush()
        yield variables | {"PGSERVICEFILE": file.name}


def _has_secrets_without_variable(parameters: Mapping[str, str]) -> bool:
    # The file named in the address itself has them.
    return "service" not in parameters and any(name in parameters for name in WITHOUT_VARIABLE)
