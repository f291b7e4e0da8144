"""The system account under which PostgreSQL runs if the command runs as root."""

import fcntl
import os
import pwd
import subprocess

# Two simultaneous `useradd` of the same name both succeed, and the second changes the account's
# number.
LOCKED_WHILE_MADE = "/etc"


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
            _make(name)
            return pwd.getpwnam(name)
    finally:
        os.close(folder)


def _make(name: str) -> None:
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
