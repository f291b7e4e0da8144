"""Files outside the checkout: the data folder, the local secret key, files of packages."""

import importlib.util
import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path
from typing import IO

import platformdirs

PRIVATE_FOLDER, PRIVATE_FILE = 0o700, 0o600


def default_data_dir() -> Path:
    """Return the platform's user-data folder; for root a system folder, so that no home folder has
    to be made readable."""
    if os.name == "posix" and os.geteuid() == 0:
        return Path("/var/lib/geval-site")
    return Path(platformdirs.user_data_dir("geval-site", appauthor=False))


def local_secret_key(data_dir: Path) -> str:
    """Return the secret key of a local site, generated once and readable only by its owner."""
    path = data_dir / "secret_key"
    try:
        return path.read_text(encoding="ascii")
    except FileNotFoundError:
        pass
    private_folder(data_dir)
    draft = path.with_name(f"secret_key.{os.getpid()}")
    with open_private(draft, empty=True) as file:
        file.write(secrets.token_urlsafe(48).encode("ascii"))
    try:
        os.link(draft, path)  # atomic: if two commands start at once, they use the same key
    except FileExistsError:
        pass
    finally:
        draft.unlink()
    return path.read_text(encoding="ascii")


def private_folder(folder: Path) -> None:
    """Create a folder for its owner alone, whatever the umask, unless it exists; its parents are
    created with the usual permissions."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with suppress(FileExistsError):
        folder.mkdir(mode=PRIVATE_FOLDER)
        if stat.S_IMODE(folder.stat().st_mode) & PRIVATE_FOLDER != PRIVATE_FOLDER:
            folder.chmod(PRIVATE_FOLDER)  # the umask removed permissions of the owner


def open_private(path: Path, *, empty: bool = False) -> IO[bytes]:
    """Open a file for appending that only its owner can read, making an existing one of ours
    private; `empty` truncates it."""
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | (os.O_TRUNC if empty else 0)
    number = os.open(path, flags, PRIVATE_FILE)
    about = os.fstat(number)
    if stat.S_IMODE(about.st_mode) != PRIVATE_FILE and about.st_uid == os.geteuid():
        os.fchmod(number, PRIVATE_FILE)
    return os.fdopen(number, "ab")


def packaged_folder(package: str) -> Path:
    """Return the folder of an installed package without importing it.

    Raises:
        ModuleNotFoundError: the package is not installed.
    """
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError(package)
    return Path(spec.submodule_search_locations[0])


def temporary_folder(data_dir: Path) -> Path | None:
    """Return a folder for temporary files of uploads, where leftovers of killed processes can be
    removed.

    None, which means the system's, if the data folder is not writable.
    """
    folder = data_dir / "temporary"
    try:
        private_folder(data_dir)
        private_folder(folder)
    except OSError:
        return None
    return folder if os.access(folder, os.W_OK) else None
