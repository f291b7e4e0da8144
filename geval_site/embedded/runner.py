"""Run PostgreSQL's programs on a data folder: as root under an account of their own."""

import fcntl
import os
import shutil
import stat
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from pwd import struct_passwd

from geval_site.embedded.account import AccountError, system_account
from geval_site.embedded.errors import EmbeddedServerError
from geval_site.embedded.programs import Programs

SYSTEM_USER = "geval-postgres"  # PostgreSQL refuses to run as root, so it gets this account


class Runner:
    """What runs the programs for one data folder."""

    def __init__(self, data_dir: Path) -> None:
        self.data_dir = data_dir
        self.as_root = os.geteuid() == 0
        self._account: struct_passwd | None = None
        self._held: tuple[int, ...] = ()

    def prepare(self) -> None:
        """Make the data folder, and the account if it is needed.

        Raises:
            EmbeddedServerError: there is none and it cannot be made.
        """
        self.data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
        if self.as_root:
            try:
                self._account = system_account(SYSTEM_USER)
            except AccountError as error:
                raise EmbeddedServerError(f"PostgreSQL cannot run as root, and {error}") from None

    def make_folder(self, folder: Path) -> None:
        """A private folder that the programs may write, and reach."""
        folder.mkdir(exist_ok=True, mode=0o700)
        if self._account:
            os.chown(folder, self._account.pw_uid, -1)
            _let_others_pass(folder.parent)

    @contextmanager
    def locked(self, name: str) -> Iterator[None]:
        """A lock that the programs share, which may outlive this process if it is killed.

        The next process to take it waits until they, and what they started, have ended.
        """
        with (self.data_dir / name).open("ab") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self._held = (lock.fileno(),)
            try:
                yield
            finally:
                self._held = ()

    def run(self, programs: Programs, name: str, *arguments: str, cwd: Path = Path("/")) -> str:
        """Run a program to its end; returns what it says.

        Raises:
            EmbeddedServerError: it failed.
        """
        # The server inherits the output file of pg_ctl, so a pipe would never close; a file is used
        # instead.
        report = self.data_dir / f"{name}.{os.getpid()}.out"
        try:
            with report.open("wb") as output:
                done = subprocess.run(
                    [str(self.folder_of(programs) / name), *arguments],
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    cwd=cwd,
                    pass_fds=self._held,
                    # Ctrl-C is for the command, which then stops the server properly
                    start_new_session=True,
                    check=False,
                    user=self._account.pw_uid if self._account else None,
                    group=self._account.pw_gid if self._account else None,
                    extra_groups=[] if self._account else None,
                    env={"PATH": os.environ.get("PATH", ""), "LC_ALL": "C.UTF-8"},
                )
            said = report.read_text(errors="replace").strip()
            if done.returncode:
                raise EmbeddedServerError(f"The embedded PostgreSQL's {name} failed: {said}")
            return said
        finally:
            report.unlink(missing_ok=True)

    def folder_of(self, programs: Programs) -> Path:
        """Where the programs can be run from."""
        if not self.as_root or _others_can_pass(programs.folder):
            return programs.folder
        # A checkout in a private folder stays private: the other account gets a copy of the
        # programs.
        copy = self.data_dir / f"postgresql-{programs.major}"
        if not copy.exists():
            draft = copy.with_name(f"{copy.name}.{os.getpid()}")
            shutil.copytree(programs.folder.parent, draft, symlinks=True)
            for path in [draft, *draft.rglob("*")]:
                if not path.is_symlink():
                    path.chmod(
                        path.stat().st_mode
                        | (0o055 if path.is_dir() or path.stat().st_mode & 0o100 else 0o044)
                    )
            draft.rename(copy)
        return copy / "bin"


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
