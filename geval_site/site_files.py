"""Templates, static files, built docs: at the top of a checkout, inside the package in a wheel."""

from pathlib import Path

PACKAGE = Path(__file__).resolve().parent
CHECKOUT = PACKAGE.parent
COLLECTED = "collected_static"


def site_files(kind: str) -> Path:
    """Return the folder of `templates`, `static`, `docs_site` or `docs`, in a wheel or in a
    checkout."""
    packaged = PACKAGE / kind
    return packaged if packaged.is_dir() else CHECKOUT / kind


def static_root(data_dir: Path) -> Path:
    """Return the folder of collected and hashed static files: included in a wheel, collected into
    the data folder in a checkout."""
    packaged = PACKAGE / COLLECTED
    return packaged if packaged.is_dir() else data_dir / "static"
