"""Import an archive into a new project, all or nothing; errors have their file and line."""

import os
import re
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import orjson
import psycopg
from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import DatabaseError, connection, transaction

from evaluations.corpus.locks.locking import lock_as_drawn, newest_event
from evaluations.models import Project
from evaluations.models.disk import is_disk_full
from evaluations.models.noted_changes import note_change
from evaluations.models.project import free_slug
from evaluations.models.table_statistics import refresh_statistics
from evaluations.people.limits import LimitError, check_storage
from evaluations.projects.archive.checking import check_row, checks_of
from evaluations.projects.archive.tables import SHOWN_AS, TABLES, NamedAnswer, Ref, Refs, Table
from evaluations.projects.archive.write import FORMAT, VERSION
from geval.files.answers.names import with_ids
from geval.files.apart import ReadingError, zip_apart
from geval.files.archive_values import WrongValueError
from geval.files.packed import UNREADABLE

# The end of a zip's directory, which a comment may follow, and how large our directories can be.
_END_OF_ZIP = re.compile(re.escape(b"PK\5\6"))
# Those of a large zip stand before it; then the end above says nothing true.
_END_OF_ZIP64 = re.compile(re.escape(b"PK\6\7"))
RECORD_OF_ZIP64, RECORD_BYTES = b"PK\6\6", 56
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
            content = orjson.loads(file.read(2**20))
        if content["format"] != FORMAT:
            raise KeyError("format")
        version, project = content["version"], content["project"]
        if version != VERSION:
            raise ArchiveError(
                f"The archive has version {version}; this site reads version {VERSION}. Update the"
                " site."
            )
        records = {str(name): int(count) for name, count in content["records"].items()}
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
    source: Path | IO[bytes],
    *,
    slug: str = "",
    name: str = "",
    anew: bool = False,
    give_to: Callable[[Project], object] | None = None,
) -> Project:
    """Create a new project from an archive.

    Args:
        slug, name: used instead of those in the archive.
        anew: choose a short name that is free.
        give_to: makes people its owners, whose limits of storage hold for it.

    Raises:
        ArchiveError: it is damaged, too large, or takes more storage than is allowed, or a project
            with that short name exists; nothing was written.
    """
    try:
        check_directory(source)
        with (
            _as_file(source) as path,
            zipfile.ZipFile(path) as archive,
            transaction.atomic(),
        ):
            _check_members(archive)
            newest = newest_event()
            manifest = read_manifest(archive)
            project = _new_project(
                manifest, slug=free_slug(name or manifest.name) if anew else slug, name=name
            )
            _copy_records(path, archive, manifest, project)
            # Names of variables on another site mean nothing here; a user of this site has to enter
            # them.
            project.endpoints.update(key_env="")
            _take_known_answers(project)
            if give_to:
                give_to(project)
            check_storage(project)
            note_change(project.pk)
            _lock(project, newest)
            refresh_statistics(table.target for table in TABLES)
            return project
    except ArchiveError:
        raise
    except LimitError as error:
        raise ArchiveError(f"{error} Nothing was written.") from None
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
        begin = file.seek(max(0, size - END_BYTES))
        end = file.read()
        # Whichever of several marks a reader takes.
        sizes = [end[mark.start() + 12 :][:4] for mark in _END_OF_ZIP.finditer(end)]
        for mark in _END_OF_ZIP64.finditer(end):
            named = int.from_bytes(end[mark.start() + 8 :][:8], "little")
            # Where it says that its record is, and where Python looks for it.
            for at in (named, begin + mark.start() - RECORD_BYTES):
                if 0 <= at < size:
                    file.seek(at)
                    record = file.read(RECORD_BYTES)
                    sizes += [record[40:48]] if record.startswith(RECORD_OF_ZIP64) else []
        file.seek(0)
    if any(int.from_bytes(directory, "little") > DIRECTORY_BYTES for directory in sizes):
        raise ArchiveError("This zip has thousands of files; a project's archive has about twenty.")


def _take_known_answers(project: Project) -> None:
    """Campaigns keep the known answers that their items were made of."""
    with connection.cursor() as cursor:
        cursor.execute(
            """UPDATE annotations_campaign c SET gold = g.gold FROM (
                   SELECT i.campaign_id, jsonb_agg(jsonb_build_object('document', i.document_id,
                       'outputs', i.outputs, 'expected', i.expected) ORDER BY i.position) AS gold
                   FROM annotations_campaignitem i WHERE i.kind IN ('gold', 'practice')
                   GROUP BY i.campaign_id) AS g
               WHERE g.campaign_id = c.id AND c.project_id = %s""",
            [project.pk],
        )


def _lock(project: Project, newest: int) -> None:
    try:
        lock_as_drawn(project, after=newest)
    except ValidationError as error:
        raise ArchiveError(
            f"locks.jsonl: {' '.join(error.messages)} Nothing was written."
        ) from None


def first_line(error: Exception) -> str:
    return str(error).split("\n")[0]


def _check_members(archive: zipfile.ZipFile) -> None:
    """Refuse an archive that is packed in a way that cannot be unpacked part by part, or would
    unpack to more than the site allows."""
    for info in archive.infolist():
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise ArchiveError(
                f"{info.filename[:80]!r} is packed by a method that this site does not unpack. Zip"
                " the files again with “deflate”, which every program offers."
            )
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


@contextmanager
def _as_file(source: Path | IO[bytes]) -> Iterator[Path]:
    """The archive in a file, which a separate process can read."""
    if isinstance(source, Path):
        yield source
        return
    with tempfile.NamedTemporaryFile(suffix=".zip") as file:
        shutil.copyfileobj(source, file)
        file.flush()
        yield Path(file.name)


def _copy_records(
    path: Path, archive: zipfile.ZipFile, manifest: Manifest, project: Project
) -> None:
    """Copy all records into their tables; they are unpacked and read by a separate process."""
    tables = [table for table in TABLES if not table.is_later or table.name in manifest.records]
    members = {f"{table.name}.jsonl": table for table in tables}
    if missing := sorted(members.keys() - set(archive.namelist())):
        raise ArchiveError(f"{missing[0]} is missing in the archive; export it again.")
    ids: Ids = {}
    readers = {name: _TableReader(table, project.pk, ids) for name, table in members.items()}
    try:
        with closing(zip_apart(path, list(members))) as parts:
            for part in parts:
                readers[part.name].copy(part.records)
    except ReadingError as error:
        raise ArchiveError(str(error)) from None
    for name, reader in readers.items():
        promised = manifest.records.get(reader.table.name, 0)
        if reader.line != promised:
            raise ArchiveError(
                f"{name} has {reader.line:,} records, the manifest says {promised:,}. The archive"
                " is damaged; export it again."
            )


# The new ids of each file's records, by its key; and by its other key, which rows keep as a name.
Ids = dict[tuple[str, bool], dict[tuple[Any, ...], int]]


class _TableReader:
    """Copies one file's records into its table; keeps the ids of those that others refer to."""

    def __init__(self, table: Table, project_id: int, ids: Ids) -> None:
        self.table = table
        self.project_id = project_id
        self.ids = ids
        self.own: dict[tuple[Any, ...], int] = {}
        self.named: dict[tuple[Any, ...], int] = {}
        self.line = 0
        self.checks = checks_of(table)
        columns = [
            "id",
            *(["project_id"] if table.of_project else []),
            *table.columns,
            *table.defaults,
        ]
        self.quoted = ", ".join(f'"{column}"' for column in columns)
        # Before its rows, which may refer to earlier ones. Each key has its own: a number may not
        # stand for a name.
        self.ids[table.name, False], self.ids[table.name, True] = self.own, self.named

    def copy(self, records: list[Any]) -> None:
        """The next records of the file."""
        table = self.table
        try:
            with connection.cursor() as cursor:
                ids = self._new_ids(len(records))
                with cursor.copy(f"COPY {table.target} ({self.quoted}) FROM STDIN") as copy:
                    for record, new_id in zip(records, ids, strict=True):
                        self.line += 1
                        copy.write_row(self._values(record, new_id))
        except (DatabaseError, psycopg.Error) as error:
            if is_disk_full(error):
                raise
            raise ArchiveError(
                f"{table.name}.jsonl: the database refuses its rows: {first_line(error)}."
            ) from error

    def _new_ids(self, count: int) -> list[int]:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT nextval(pg_get_serial_sequence(%s, 'id')) FROM generate_series(1, %s)",
                [self.table.target, count],
            )
            return [pk for (pk,) in cursor.fetchall()]

    def _values(self, record: Any, new_id: int) -> list[Any]:
        table = self.table
        try:
            row = {**table.later, **record}
            check_row(table, self.checks, row)
            values: list[Any] = [new_id, *([self.project_id] if table.of_project else [])]
            for column, field in table.columns.items():
                if isinstance(field, Refs):
                    values.append(list(self._outputs_of(row, field).values()))
                elif isinstance(field, NamedAnswer):
                    answer = with_ids(
                        row[field.field], self._criteria(), self._outputs_of(row, Refs())
                    )
                    values.append(None if answer is None else orjson.dumps(answer).decode())
                elif isinstance(field, Ref):
                    values.append(self._pointed_to(row, field))
                elif column in table.json and row[field] is not None:
                    values.append(orjson.dumps(row[field]).decode())
                else:
                    values.append(row[field])
            for key, rows in ((table.key, self.own), (table.other_key, self.named)):
                if key:
                    rows[tuple(row[name] for name in key)] = new_id
        except WrongValueError as error:
            raise ArchiveError(
                f"{table.name}.jsonl, line {self.line}: {str(error).rstrip('.')}. Correct it in "
                "that file."
            ) from None
        except (KeyError, TypeError, AttributeError) as error:
            problem = f"there is no {error}" if isinstance(error, KeyError) else str(error)
            raise ArchiveError(
                f"{table.name}.jsonl, line {self.line}: {problem}. The archive is damaged."
            ) from None
        return [*values, *table.defaults.values()]

    def _outputs_of(self, row: dict[str, Any], refs: Refs) -> dict[str, int]:
        """The ids of a document's outputs by their systems."""
        of_output = Ref("outputs", ("doc_id", refs.field))
        return {
            name: self._pointed_to({**row, refs.field: name}, of_output) for name in row[refs.field]
        }

    def _criteria(self) -> dict[str, int]:
        return {key[0]: pk for key, pk in self.ids["criteria", False].items()}

    def _pointed_to(self, row: dict[str, Any], ref: Ref) -> Any:
        """The new id of a record, or its name; None if the last of its fields is empty."""
        key = tuple(row[name] for name in ref.fields)
        if key[-1] is None:
            return None
        try:
            # For Python, true is 1 and so could stand for a number.
            if any(isinstance(part, bool) for part in key):
                raise KeyError(key)
            new_id = self.ids[ref.table, ref.keeps_name][key]
            return key[-1] if ref.keeps_name else new_id
        except KeyError:
            shown = " ".join(
                f"{name} {value!r}" for name, value in zip(ref.fields, key, strict=True)
            )
            raise ArchiveError(
                f"{self.table.name}.jsonl, line {self.line}: {shown} is not in {ref.table}.jsonl. "
                "The archive is damaged."
            ) from None
