"""Run PostgreSQL's programs on a data folder; as root, under a separate account."""

import fcntl
import os
import pwd
import shutil
import stat
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from pwd import struct_passwd

from geval_site.datafolder import PRIVATE_FOLDER, open_private, private_folder
from geval_site.embedded.paths import EmbeddedServerError
from geval_site.embedded.programs import ServerPrograms

# Two simultaneous `useradd` of the same name both succeed, and the second changes the account's
# number.
LOCKED_WHILE_MADE = "/etc"
SYSTEM_USER = "geval-postgres"  # PostgreSQL refuses to run as root, so it gets this account


class AccountError(RuntimeError):
    """The account could not be created; the message says why."""


def system_account(name: str) -> pwd.struct_passwd:
    """Return the account of this name, with a group of the same name, creating it if necessary.

    Raises:
        AccountError: the account cannot be created.
    """
    folder = os.open(LOCKED_WHILE_MADE, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        try:
            return pwd.getpwnam(name)
        except KeyError:
            _make_account(name)
            return pwd.getpwnam(name)
    finally:
        os.close(folder)


def _make_account(name: str) -> None:
    try:
        subprocess.run(
            ["useradd", "--system", "--no-create-home", "--home-dir", "/nonexistent", "--shell",
                "/usr/sbin/nologin",
             "--user-group", name],
            env={"PATH": "/usr/sbin:/sbin:/usr/bin:/bin"}, capture_output=True, text=True,
            check=True,
        )  # fmt: skip
    except (OSError, subprocess.CalledProcessError) as error:
        message = (
            error.stderr.strip() if isinstance(error, subprocess.CalledProcessError) else str(error)
        )
        raise AccountError(
            f"the account {name} could not be created: {message}. Run as an ordinary user, or set"
            " DATABASE_URL."
        ) from None


class Runner:
    """Runs the programs of one data folder."""

    def __init__(self, data_dir: Path) -> None:
        self.data_dir = data_dir
        self.as_root = os.geteuid() == 0
        self._account: struct_passwd | None = None
        self._held: tuple[int, ...] = ()

    def prepare(self) -> None:
        """Create the data folder, and the account if it is needed.

        Raises:
            EmbeddedServerError: one of them cannot be created.
        """
        private_folder(self.data_dir)
        if self.as_root:
            try:
                self._account = system_account(SYSTEM_USER)
            except AccountError as error:
                raise EmbeddedServerError(f"PostgreSQL cannot run as root, and {error}") from None

    def make_folder(self, folder: Path, *, is_own: bool = False) -> None:
        """Create a private folder that the programs can reach and write.

        Args:
            is_own: whether the folder must belong to this user or the programs' account, because it
                is in a world-writable place, where others may have created it.

        Raises:
            EmbeddedServerError: the folder belongs to another user, or is a link.
        """
        private_folder(folder)
        if is_own:
            self._check_owner(folder)
        if self._account:
            os.chown(folder, self._account.pw_uid, -1)
            self._let_account_pass(folder.parent)

    def _check_owner(self, folder: Path) -> None:
        about = folder.lstat()
        owners = {os.geteuid()} | ({self._account.pw_uid} if self._account else set())
        if not stat.S_ISDIR(about.st_mode) or about.st_uid not in owners:
            raise EmbeddedServerError(
                f"{folder} belongs to another user, or is a link; remove it, or set"
                " XDG_RUNTIME_DIR to your own folder."
            )
        if about.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            folder.chmod(PRIVATE_FOLDER)

    def _let_account_pass(self, folder: Path) -> None:
        """Allow the account to pass through (not read) a folder and its parents if necessary;
        within the data folder only this account, through its group."""
        assert self._account is not None
        for place in (folder, *folder.parents):
            about = place.stat()
            if about.st_mode & stat.S_IXOTH:
                continue
            if place.is_relative_to(self.data_dir):
                os.chown(place, -1, self._account.pw_gid)
                place.chmod(stat.S_IMODE(about.st_mode) | stat.S_IXGRP)
            else:
                place.chmod(stat.S_IMODE(about.st_mode) | stat.S_IXOTH)

    @contextmanager
    def locked(self, name: str) -> Iterator[None]:
        """Hold a lock that child programs inherit, since they may outlive this process if it is
        killed.

        The next process to take it waits until they, and what they started, have ended.
        """
        with open_private(self.data_dir / name) as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self._held = (lock.fileno(),)
            try:
                yield
            finally:
                self._held = ()

    def run(
        self, programs: ServerPrograms, name: str, *arguments: str, cwd: Path = Path("/")
    ) -> str:
        """Run a program to its end; return its output.

        Raises:
            EmbeddedServerError: the program failed.
        """
        # The server inherits the output file of pg_ctl, so a pipe would never close; use a file
        # instead.
        report = self.data_dir / f"{name}.{os.getpid()}.out"
        try:
            with open_private(report, empty=True) as output:
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
            output_text = report.read_text(errors="replace").strip()
            if done.returncode:
                raise EmbeddedServerError(f"The embedded PostgreSQL's {name} failed: {output_text}")
            return output_text
        finally:
            report.unlink(missing_ok=True)

    def folder_of(self, programs: ServerPrograms) -> Path:
        """Return the folder from which the programs can be run."""
        if not self.as_root or _others_can_pass(programs.folder):
            return programs.folder
        # A checkout in a private folder stays private: the other account gets a copy of the
        # programs.
        copy = self.data_dir / f"postgresql-{programs.major}"
        if not copy.exists():
            draft = copy.with_name(f"{copy.name}.{os.getpid()}")
            shutil.copytree(programs.folder.parent, draft, symlinks=True)
            assert self._account is not None
            for path in [draft, *draft.rglob("*")]:
                if not path.is_symlink():
                    os.chown(path, -1, self._account.pw_gid)
                    mode = path.stat().st_mode
                    path.chmod(0o750 if path.is_dir() or mode & stat.S_IXUSR else 0o640)
            draft.rename(copy)
        return copy / "bin"


def _others_can_pass(folder: Path) -> bool:
    return all(
        place.stat().st_mode & stat.S_IXOTH
        for place in (folder / "postgres", folder, *folder.parents)
    )
