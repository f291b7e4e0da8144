"""Locations of the embedded PostgreSQL and its socket, and its errors for users.
Pure: importing this starts nothing."""

import hashlib
import os
import tempfile
from pathlib import Path

DATABASE = "geval"
USER = "geval"
SOCKET_NAME = ".s.PGSQL.5432"
# sun_path has 108 bytes on Linux and 104 on macOS, including the terminating NUL.
LONGEST_SOCKET_PATH = 103


def cluster_dir(data_dir: Path) -> Path:
    return data_dir / "postgres"


def socket_dir(data_dir: Path) -> Path:
    """Return a folder for the unix socket: in the data folder, or a short private one if that path
    is not usable.

    PostgreSQL splits its list of socket folders at commas, and a unix socket's path is limited in
    length.
    """
    inside = data_dir / "run"
    path = str(inside / SOCKET_NAME)
    if len(os.fsencode(path)) <= LONGEST_SOCKET_PATH and not set(path) & set(",\"'\\"):
        return inside
    digest = hashlib.sha256(os.fsencode(data_dir)).hexdigest()[:12]
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    usable = runtime and len(runtime) < 60 and Path(runtime).is_dir()
    base = Path(runtime) if usable else Path("/tmp")  # noqa: S108
    if not base.is_dir():
        base = Path(tempfile.gettempdir())
    return base / f"geval-site-{os.geteuid()}-{digest}"


class EmbeddedServerError(RuntimeError):
    """The embedded PostgreSQL could not be started; the message says why and where its log is."""
