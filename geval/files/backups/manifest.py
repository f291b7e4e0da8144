"""A backup's description of itself: versions, checksums, counts. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field

import orjson
from pydantic import TypeAdapter, ValidationError

from geval.files.backups.errors import BackupError

FORMAT = "geval-site backup"
# Raise it when earlier software could not read the backup: it refuses higher versions.
VERSION = 1
# PostgreSQL's numbers since version 10: the major version times this, plus the minor one.
NUMBER_OF_MAJOR = 10_000


@dataclass(frozen=True)
class StoredFile:
    """A file of the backup, as it was written."""

    bytes: int
    sha256: str


@dataclass(frozen=True)
class BackupManifest:
    """Everything known about a backup without reading its data.

    `migrations` has the last one of each app; `tables` the number of rows of each table, `projects`
    the counts of each project, both at the time of the dump. `postgresql` and `dumped_by` are
    version numbers of the server and of its program `pg_dump`, such as 180004. `secret_key` is a
    fingerprint.
    """

    software: str
    made_at: str
    postgresql: int
    dumped_by: int
    migrations: dict[str, str]
    tables: dict[str, int]
    projects: dict[str, dict[str, int]]
    secret_key: str
    files: dict[str, StoredFile] = field(default_factory=dict)
    format: str = FORMAT
    version: int = VERSION

    def to_json(self) -> bytes:
        return orjson.dumps(asdict(self), option=orjson.OPT_INDENT_2)


def read_manifest(content: bytes) -> BackupManifest:
    """Parse a manifest.

    Raises:
        BackupError: it is not a manifest, or has a later format.
    """
    try:
        content_read = orjson.loads(content)
        if content_read["format"] != FORMAT:
            raise BackupError("This is not a backup of a geval_site.")
        if content_read["version"] > VERSION:
            software = "".join(filter(str.isprintable, content_read["software"]))
            raise BackupError(
                f"This backup was made by geval_site {software}, in a format that this version does"
                " not know. Install that version or a later one, and restore again."
            )
        manifest = _MANIFEST.validate_json(content, strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise _damaged(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from None
    except (orjson.JSONDecodeError, KeyError, TypeError) as error:
        raise _damaged(str(error)) from None
    # It is printed, and a terminal interprets some other characters.
    if not all(map(str.isprintable, _texts(manifest))):
        raise _damaged("it has characters that cannot be printed")
    return manifest


_MANIFEST = TypeAdapter(BackupManifest)


def _texts(manifest: BackupManifest) -> Iterator[str]:
    yield from (manifest.software, manifest.made_at, manifest.secret_key)
    yield from (*manifest.migrations, *manifest.migrations.values(), *manifest.tables)
    for slug, held in manifest.projects.items():
        yield from (slug, *held)


def _damaged(why: str) -> BackupError:
    return BackupError(f"The manifest of this backup is damaged ({why!r}).")


def unknown_migrations(
    backup: Mapping[str, str], names: Mapping[str, Sequence[str]]
) -> dict[str, str]:
    """Return the last migrations of a backup that this software does not have, by app.

    Args:
        names: the names of this software's migrations, by app. Apps that are not installed here
            (those of OpenID Connect, if it is off) are left out: their tables are only kept.
    """
    return {app: last for app, last in backup.items() if app in names and last not in names[app]}


def is_older(backup: Mapping[str, str], latest: Mapping[str, str]) -> bool:
    """Return whether this software has migrations that the backup's database had not."""
    return any(backup.get(app) != last for app, last in latest.items())


def version_words(number: int) -> str:
    """Format PostgreSQL's version number: 180004 is 18.4."""
    return f"{number // NUMBER_OF_MAJOR}.{number % NUMBER_OF_MAJOR}"
