"""The system account that root lends to PostgreSQL."""

import fcntl
import os
import pwd
import subprocess

# Two `useradd` of one name at once both succeed, and the second gives the account another number.
LOCKED_WHILE_MADE = "/etc"


class AccountError(RuntimeError):
    """The account could not be made; the message says why."""


def system_account(name: str) -> pwd.struct_passwd:
    """The account of this name, with a group of the same name; made where there is none.

    Raises:
        AccountError: it cannot be made.
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
            ["useradd", "--system", "--no-create-home", "--home-dir", "/nonexistent", "--shell", "/usr/sbin/nologin",
             "--user-group", name],
            env={"PATH": "/usr/sbin:/sbin:/usr/bin:/bin"}, capture_output=True, text=True, check=True,
        )  # fmt: skip
    except (OSError, subprocess.CalledProcessError) as error:
        said = (
            error.stderr.strip() if isinstance(error, subprocess.CalledProcessError) else str(error)
        )
        raise AccountError(
            f"the account {name} could not be made: {said}. Run as an ordinary user, or set"
            " DATABASE_URL."
        ) from None
