"""Start, share and stop the embedded PostgreSQL.

Every process that uses the server holds a shared file lock on it, which the kernel releases when
the process ends, however it ends. Starting and stopping happen under an exclusive lock; a process
that ends and sees that no other holds the shared lock stops the server. A server that died is
restarted at the next connection.
"""

import atexit
import fcntl
import os
import shutil
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import IO

import psycopg
from psycopg import sql

from geval_site.datafolder import open_private
from geval_site.embedded.cluster import DatabaseCluster, is_listening, major_of
from geval_site.embedded.paths import (
    DATABASE,
    SOCKET_NAME,
    USER,
    EmbeddedServerError,
    cluster_dir,
    socket_dir,
)
from geval_site.embedded.programs import ServerPrograms, current_programs
from geval_site.embedded.runner import Runner
from geval_site.embedded.upgrade import upgrade_if_older


class EmbeddedServer:
    """The server of one data folder, as seen from one process.

    Args:
        programs: the programs that create and serve the data; by default the bundled ones.
    """

    def __init__(self, data_dir: Path, programs: ServerPrograms | None = None) -> None:
        self.data_dir = data_dir
        self.folder = cluster_dir(data_dir)
        self.socket_dir = socket_dir(data_dir)
        self.runner = Runner(data_dir)
        self._programs = programs
        # Threads of a process start one server and share its lease.
        self._guard = threading.Lock()
        self._lease: IO[bytes] | None = None
        self._lease_pid = 0

    def ensure_running(self) -> None:
        """Start the server if necessary, and keep it running as long as this process lives.

        Raises:
            EmbeddedServerError: the server does not start.
        """
        with self._guard:
            if self._lease_pid == os.getpid() and self._answers():
                return
            self._prepare_folders()
            with self._exclusive():
                if not self._answers():
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
                with open_private(self.data_dir / "users.lock") as users, suppress(BlockingIOError):
                    fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    self._stop()

    @contextmanager
    def _exclusive(self) -> Iterator[None]:
        with open_private(self.data_dir / "server.lock") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _take_lease(self) -> None:
        # A forked child takes its own lock; its copy of the parent's file keeps the parent's lock.
        self._lease = open_private(self.data_dir / "users.lock")
        fcntl.flock(self._lease, fcntl.LOCK_SH)
        self._lease_pid = os.getpid()
        atexit.register(self.release)
        _exit_cleanly_on_sigterm()

    def _answers(self) -> bool:
        return is_listening(self.socket_dir / SOCKET_NAME)

    def _prepare_folders(self) -> None:
        self.runner.prepare()
        self.runner.make_folder(self.folder)
        self.runner.make_folder(self.socket_dir, is_own=True)

    def _start(self) -> None:
        cluster = self._cluster()
        upgrade_if_older(cluster)
        if not major_of(self.folder):
            cluster.initialise()
        cluster.start("-c max_connections=200")
        with (
            psycopg.connect(
                host=str(self.socket_dir), user=USER, dbname="postgres", autocommit=True
            ) as connection,
            suppress(psycopg.errors.DuplicateDatabase),
        ):
            connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(DATABASE)))

    def _stop(self) -> None:
        with suppress(EmbeddedServerError):
            self._cluster().stop()
        if not self.socket_dir.is_relative_to(self.data_dir):
            shutil.rmtree(self.socket_dir, ignore_errors=True)

    def _cluster(self) -> DatabaseCluster:
        programs = self._programs or current_programs()
        return DatabaseCluster(self.runner, programs, self.folder, self.socket_dir)


_servers: dict[Path, EmbeddedServer] = {}


def embedded_server(data_dir: Path) -> EmbeddedServer:
    """Return this process's handle on a data folder's server."""
    return _servers.setdefault(data_dir, EmbeddedServer(data_dir))


def _exit_cleanly_on_sigterm() -> None:
    """Make a plain SIGTERM run the exit handlers; servers and workers install their own
    handlers."""

    def leave(number: int, _frame: FrameType | None) -> None:
        sys.exit(128 + number)

    if (
        threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
    ):
        signal.signal(signal.SIGTERM, leave)
