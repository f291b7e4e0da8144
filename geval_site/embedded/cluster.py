"""A PostgreSQL data folder: created, started and stopped by programs of one version."""

import re
import shlex
import socket
import time
from pathlib import Path

from geval_site.embedded.paths import USER, EmbeddedServerError
from geval_site.embedded.programs import ServerPrograms
from geval_site.embedded.runner import Runner

# As long as pg_ctl waits by default; after a crash PostgreSQL recovers first.
START_SECONDS = 60
# The last lines name the cause.
LAST_LINES = 5


class DatabaseCluster:
    """The data in `folder`; its server listens in `socket_dir`."""

    def __init__(
        self, runner: Runner, programs: ServerPrograms, folder: Path, socket_dir: Path
    ) -> None:
        self.runner, self.programs = runner, programs
        self.folder, self.socket_dir = folder, socket_dir
        self.log = folder / "server.log"

    def initialise(self, *options: str) -> None:
        """Create the data of an empty server."""
        self._run(
            "initdb", "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8", "--no-instructions",
            "-U", USER, *options,
        )  # fmt: skip

    def start(self, *options: str) -> None:
        """Start the server, and return when it is ready."""
        sockets = shlex.quote(str(self.socket_dir))
        switches = " ".join(("-h ''", f"-k {sockets}", *options))
        deadline = time.monotonic() + START_SECONDS
        while True:
            try:
                self._run(
                    "pg_ctl", "-w", "-t", str(START_SECONDS), "-l", str(self.log), "-o", switches,
                    "start",
                )  # fmt: skip
                break
            except EmbeddedServerError as error:
                # After a crash the old server's children may still hold its memory for a moment.
                if time.monotonic() > deadline or not (self.folder / "postmaster.pid").exists():
                    raise EmbeddedServerError(f"{error}\n{self._tail_of_log()}".strip()) from None
                time.sleep(0.5)

    def stop(self) -> None:
        """Stop the server, ending its connections."""
        self._run("pg_ctl", "-w", "-t", "30", "-m", "fast", "stop")

    def has_checksums(self) -> bool:
        """Whether each page of the data has a checksum."""
        output = self._run("pg_controldata")
        match = re.search(r"^Data page checksum version:\s+(\d+)", output, re.MULTILINE)
        return bool(match and int(match[1]))

    def _run(self, name: str, *arguments: str) -> str:
        return self.runner.run(self.programs, name, "-D", str(self.folder), *arguments)

    def _tail_of_log(self) -> str:
        try:
            lines = self.log.read_text(errors="replace").splitlines()[-LAST_LINES:]
        except OSError:
            return ""
        return f"End of {self.log}:\n" + "\n".join(lines)


def is_listening(address: Path) -> bool:
    """Whether a server accepts connections at a unix socket."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(5)
        try:
            probe.connect(str(address))
        except OSError:
            return False
        return True


def major_of(folder: Path) -> int:
    """Return the major version that created the data in a folder; 0 if it has none."""
    try:
        return int((folder / "PG_VERSION").read_text(encoding="ascii"))
    except FileNotFoundError:
        return 0
