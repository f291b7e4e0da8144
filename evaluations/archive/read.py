"""Import an archive into a new project, all or nothing; errors have their file and line."""

import os
import zipfile
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import orjson
import psycopg
from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import DatabaseError, connection, transaction

from evaluations.archive.checking import Check, WrongValueError, check_record, checks_of
from evaluations.archive.tables import SHOWN_AS, TABLES, Ref, Table
from evaluations.archive.write import FORMAT, VERSION
from evaluations.changes import note_change
from evaluations.corpus.packed import UNREADABLE
from evaluations.improving.locking import lock_as_drawn
from evaluations.models import Project
from evaluations.models.project import new_slug
from geval_site.disk import is_disk_full

CHUNK_ROWS = 5000
CHUNK_BYTES = 8 * 2**20
# The end of a zip's directory, which a comment may follow, and how large our directories can be.
END_OF_ZIP = b"PK\5\6"
END_BYTES = 2**16 + 22
DIRECTORY_BYTES = 2**16


class ArchiveError(ValueError):
    """An invalid archive; the message says where and what to do. Nothing was written."""


@dataclass(frozen=True)
class Manifest:
    """An archive's description of itself."""

    slug: str
    name: str
    description: str
    guidelines: str
    shown_as: dict[str, str]
    records: dict[str, int]


def read_manifest(archive: zipfile.ZipFile) -> Manifest:
    """The manifest of an archive.

    Raises:
        ArchiveError: there is none, or it has a different format or version.
    """
    try:
        with archive.open("manifest.json") as file:
            found = orjson.loads(file.read(2**20))
        if found["format"] != FORMAT:
            raise KeyError("format")
        version, project = found["version"], found["project"]
        if version != VERSION:
            raise ArchiveError(
                f"The archive has version {version}; this site reads version {VERSION}. Update the"
                " site."
            )
        records = {str(name): int(count) for name, count in found["records"].items()}
        texts = {name: project[name] for name in ("slug", "name", "description", "guidelines")}
        shown_as = {name: project[name] for name in SHOWN_AS if name in project}
        for text in (*texts.values(), *shown_as.values()):
            if not isinstance(text, str) or "\0" in text:
                raise TypeError("texts")
        return Manifest(**texts, shown_as=shown_as, records=records)
    except ArchiveError:
        raise
    except (KeyError, TypeError, AttributeError, ValueError, OverflowError, *UNREADABLE):
        raise ArchiveError(
            "This zip is not a project archive: its manifest.json is missing or invalid."
        ) from None


def read_archive(
    source: Path | IO[bytes], *, slug: str = "", name: str = "", anew: bool = False
) -> Project:
    """Create a new project from an archive.

    Args:
        slug, name: used instead of those in the archive.
        anew: choose a short name that is free.

    Raises:
        ArchiveError: it is damaged or too large, or a project with that short name exists; nothing
            was written.
    """
    try:
        check_directory(source)
        with zipfile.ZipFile(source) as archive, transaction.atomic():
            manifest = read_manifest(archive)
            _check_size(archive)
            project = _new_project(
                manifest, slug=new_slug(name or manifest.name) if anew else slug, name=name
            )
            ids: dict[str, dict[tuple[Any, ...], int]] = {}
            for table in TABLES:
                if table.is_later and table.name not in manifest.records:
                    continue
                count = _TableReader(table, project.pk, ids).read(archive)
                if count != manifest.records.get(table.name, 0):
                    raise ArchiveError(
                        f"{table.name}.jsonl has {count:,} records, the manifest says"
                        f" {manifest.records.get(table.name, 0):,}. The archive is damaged; export "
                        "it again."
                    )
            # Names of variables on another site mean nothing here; a user of this site has to enter
            # them.
            project.endpoints.update(key_env="")
            note_change(project.pk)
            lock_as_drawn(project)
            with connection.cursor() as cursor:
                for table in TABLES:
                    cursor.execute(f"ANALYZE {table.target}")
            return project
    except ArchiveError:
        raise
    except ValidationError as error:
        raise ArchiveError(
            f"manifest.json: {' '.join(error.messages)} Change it, or choose another name."
        ) from None
    except DatabaseError as error:
        if is_disk_full(error):
            raise
        raise ArchiveError(
            f"The database refuses it: {first_line(error)}. Nothing was written."
        ) from error
    except (*UNREADABLE, IndexError, KeyError, OverflowError) as error:
        raise ArchiveError(
            f"The file cannot be read as a zip ({error}); download it again from the site that "
            "created it."
        ) from error


def check_directory(source: Path | IO[bytes]) -> None:
    """Refuse a zip whose directory is too large: each of its names would take a kilobyte of memory.

    Raises:
        ArchiveError: it has thousands of names.
    """
    with source.open("rb") if isinstance(source, Path) else nullcontext(source) as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - END_BYTES))
        end = file.read()
        file.seek(0)
    at = end.rfind(END_OF_ZIP)
    if (
        0 <= at <= len(end) - 16
        and int.from_bytes(end[at + 12 : at + 16], "little") > DIRECTORY_BYTES
    ):
        raise ArchiveError("This zip has thousands of files; a project's archive has about twenty.")


def first_line(error: Exception) -> str:
    return str(error).split("\n")[0]


def _check_size(archive: zipfile.ZipFile) -> None:
    """Refuse an archive that would unpack to more than the site allows."""
    size = sum(info.file_size for info in archive.infolist())
    if size > settings.ARCHIVE_LIMIT_BYTES:
        limit = settings.ARCHIVE_LIMIT_BYTES // 2**20
        raise ArchiveError(
            f"The archive unpacks to {size // 2**20:,} MB; this site accepts {limit:,} MB"
            " (GEVAL_ARCHIVE_LIMIT_MB)."
        )


def _new_project(manifest: Manifest, *, slug: str, name: str) -> Project:
    project = Project(
        slug=slug or manifest.slug,
        name=name or manifest.name,
        description=manifest.description,
        guidelines=manifest.guidelines,
        **manifest.shown_as,
    )
    if Project.objects.filter(slug=project.slug).exists():
        raise ArchiveError(
            f"A project {project.slug!r} already exists; choose another short name for the copy."
        )
    project.full_clean(validate_unique=False)
    project.save()
    return project


class _TableReader:
    """Reads one file into its table; keeps the ids of referenced records by their keys."""

    def __init__(
        self, table: Table, project_id: int, ids: dict[str, dict[tuple[Any, ...], int]]
    ) -> None:
        self.table = table
        self.project_id = project_id
        self.ids = ids
        self.own: dict[tuple[Any, ...], int] = {}
        self.line = 0
        self.checks = checks_of(table)

    def read(self, archive: zipfile.ZipFile) -> int:
        """Copy every row; returns their number."""
        table = self.table
        if table.key:
            # Before its rows, which may refer to earlier ones.
            self.ids[table.name] = self.own
        columns = [
            "id",
            *(["project_id"] if table.of_project else []),
            *table.columns,
            *table.defaults,
        ]
        quoted = ", ".join(f'"{column}"' for column in columns)
        try:
            file = archive.open(f"{table.name}.jsonl")
        except KeyError:
            raise ArchiveError(
                f"{table.name}.jsonl is missing in the archive; export it again."
            ) from None
        try:
            with file, connection.cursor() as cursor:
                for lines in self._chunks(file):
                    ids = self._new_ids(len(lines))
                    with cursor.copy(f"COPY {table.target} ({quoted}) FROM STDIN") as copy:
                        for line, new_id in zip(lines, ids, strict=True):
                            self.line += 1
                            copy.write_row(self._values(line, new_id))
        except (DatabaseError, psycopg.Error) as error:
            if is_disk_full(error):
                raise
            raise ArchiveError(
                f"{table.name}.jsonl: the database refuses its rows: {first_line(error)}."
            ) from error
        return self.line

    def _chunks(self, file: IO[bytes]) -> Iterator[list[bytes]]:
        """Lines, some thousand at a time, fewer if they are long."""
        most = 6 * settings.FIELD_LIMIT_BYTES
        lines: list[bytes] = []
        size = 0
        while line := file.readline(most + 1):
            if len(line) > most:
                raise ArchiveError(
                    f"{self.table.name}.jsonl, line {self.line + len(lines) + 1}: longer than"
                    f" {most // 2**20:,} MB, six times the limit of a field (GEVAL_FIELD_LIMIT_MB)."
                )
            lines.append(line)
            size += len(line)
            if len(lines) >= CHUNK_ROWS or size > CHUNK_BYTES:
                yield lines
                lines, size = [], 0
        if lines:
            yield lines

    def _new_ids(self, count: int) -> list[int]:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT nextval(pg_get_serial_sequence(%s, 'id')) FROM generate_series(1, %s)",
                [self.table.target, count],
            )
            return [pk for (pk,) in cursor.fetchall()]

    def _values(self, line: bytes, new_id: int) -> list[Any]:
        table = self.table
        try:
            row = {**table.later, **orjson.loads(line)}
            for name, check in self.checks.items():
                self._check(name, check, row[name])
            check_record(table, row)
            values: list[Any] = [new_id, *([self.project_id] if table.of_project else [])]
            for column, field in table.columns.items():
                if isinstance(field, Ref):
                    values.append(self._pointed_to(row, field))
                elif column in table.json and row[field] is not None:
                    values.append(orjson.dumps(row[field]).decode())
                else:
                    values.append(row[field])
            if table.key:
                self.own[tuple(row[name] for name in table.key)] = new_id
        except WrongValueError as error:
            raise ArchiveError(
                f"{table.name}.jsonl, line {self.line}: {str(error).rstrip('.')}. Correct it in "
                "that file."
            ) from None
        except (orjson.JSONDecodeError, KeyError, TypeError, AttributeError) as error:
            said = f"there is no {error}" if isinstance(error, KeyError) else str(error)
            raise ArchiveError(
                f"{table.name}.jsonl, line {self.line}: {said}. The archive is damaged."
            ) from None
        return [*values, *table.defaults.values()]

    def _check(self, name: str, check: Check, value: Any) -> None:
        try:
            check(value)
        except WrongValueError as error:
            raise WrongValueError(f"{name} {error}") from None

    def _pointed_to(self, row: dict[str, Any], ref: Ref) -> int | None:
        """The new id of a record; None if the last of its fields is empty."""
        key = tuple(row[name] for name in ref.fields)
        if key[-1] is None:
            return None
        try:
            return self.ids[ref.table][key]
        except KeyError:
            shown = " ".join(
                f"{name} {value!r}" for name, value in zip(ref.fields, key, strict=True)
            )
            raise ArchiveError(
                f"{self.table.name}.jsonl, line {self.line}: {shown} is not in {ref.table}.jsonl. "
                "The archive is damaged."
            ) from None
