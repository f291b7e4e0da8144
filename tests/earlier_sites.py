"""What tests keep of sites of earlier versions: databases, and the reports of their demo projects
(`make release-data`)."""

import gzip
from pathlib import Path

DATA = Path(__file__).resolve().parent / "data"
# Of version 0.1.0, before its folders and names were put in order.
FIRST = "before_the_house_was_ordered"
VERSIONS = sorted(path.name.removesuffix(".sql.gz") for path in DATA.glob("*.sql.gz"))


def database_of(version: str) -> bytes:
    """The statements that make the database."""
    return _unpacked(f"{version}.sql.gz")


def report_of(version: str) -> str:
    """The report, as JSON."""
    return _unpacked(f"{version}.report.json.gz").decode()


def _unpacked(name: str) -> bytes:
    return gzip.decompress((DATA / name).read_bytes())
