"""Files outside the checkout: the data folder, the local secret key, files of packages."""

import importlib.util
import os
import secrets
from pathlib import Path

import platformdirs


def default_data_dir() -> Path:
    """The platform's user-data folder; for root a system folder, so that no home folder has to be
    made readable."""
    if os.name == "posix" and os.geteuid() == 0:
        return Path("/var/lib/geval-site")
    return Path(platformdirs.user_data_dir("geval-site", appauthor=False))


def local_secret_key(data_dir: Path) -> str:
    """The secret key of a local site: generated once, readable only by its owner."""
    path = data_dir / "secret_key"
    try:
        return path.read_text(encoding="ascii")
    except FileNotFoundError:
        pass
    data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
    draft = path.with_name(f"secret_key.{os.getpid()}")
    draft.touch(mode=0o600)
    draft.write_text(secrets.token_urlsafe(48), encoding="ascii")
    try:
        os.link(draft, path)  # atomic: if two commands start at once, they use the same key
    except FileExistsError:
        pass
    finally:
        draft.unlink()
    return path.read_text(encoding="ascii")


def packaged_folder(package: str) -> Path:
    """The folder of an installed package, found without importing it.

    Raises:
        ModuleNotFoundError: it is not installed.
    """
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError(package)
    return Path(spec.submodule_search_locations[0])


def temporary_folder(data_dir: Path) -> Path | None:
    """A folder for temporary files of uploads, where leftovers of killed processes can be removed.

    None, which means the system's, if the data folder is not writable.
    """
    folder = data_dir / "temporary"
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError:
        return None
    return folder if os.access(folder, os.W_OK) else None
