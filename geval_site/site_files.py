"""Templates, static files, built docs: at the top of a checkout, inside the package in a wheel."""

from pathlib import Path

PACKAGE = Path(__file__).resolve().parent
CHECKOUT = PACKAGE.parent
COLLECTED = "collected_static"


def site_files(kind: str) -> Path:
    """The folder of `templates`, `static`, `docs_site` or `docs`, in a wheel or in a checkout."""
    packaged = PACKAGE / kind
    return packaged if packaged.is_dir() else CHECKOUT / kind


def static_root(data_dir: Path) -> Path:
    """Where collected and hashed static files are: a wheel brings them, a checkout collects them
    into the data folder."""
    packaged = PACKAGE / COLLECTED
    return packaged if packaged.is_dir() else data_dir / "static"
