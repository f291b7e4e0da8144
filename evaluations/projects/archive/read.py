"""Check an archive and import it into a new project, all or nothing; errors have their file and
line. Rows are checked by the rules of the models' fields and of whole records.
"""

from __future__ import annotations

import datetime
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO, Any

import orjson
import psycopg
import structlog
from django.apps import apps
from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import DatabaseError, connection, models, transaction
from django.utils.dateparse import parse_datetime
from pydantic import TypeAdapter

from evaluations.corpus.locks.locking import as_own_draw, newest_event
from evaluations.models import Judge, Project
from evaluations.models.changes import note_change
from evaluations.models.judge_policies import read_answer, read_rule
from evaluations.models.project import free_slug
from evaluations.models.row_by_row import is_disk_full
from evaluations.models.sizes import refresh_statistics
from evaluations.people.limits import LimitError, check_storage
from evaluations.projects.archive.rows import STORED
from geval.evaluators.base import EvaluatorError, SettingsError
from geval.evaluators.formula import CriterionFormula
from geval.evaluators.registry import make_evaluator
from geval.files.apart import ReadingError, zip_apart
from geval.files.archive.manifest import ArchiveManifest, read_manifest
from geval.files.archive.record_file import (
    ArchiveError,
    NamedAnswer,
    RecordFile,
    Ref,
    Refs,
    WrongValueError,
)
from geval.files.archive.record_lines import NewIds, RecordReader
from geval.files.archive.shapes import (
    ANSWER,
    SYSTEMS,
    check_field,
    decimal_value,
    flag_value,
    json_value,
    number_value,
    text_value,
    whole_value,
)
from geval.files.archive.zip_limits import check_directory, check_members
from geval.files.packed import UNREADABLE
from geval_site.sql import execute_sql

log = structlog.stdlib.get_logger(__name__)

Check = Callable[[Any], None]
YEARS = range(1970, 2200)
JUDGE_NUMBERS = frozenset(
    {"samples", "temperature", "concurrency", "max_tokens", "timeout_seconds", "min_coverage"}
)


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
        slug, name: override those in the archive.
        anew: choose a free short name.
        give_to: makes people its owners, whose storage limits apply to it.

    Raises:
        ArchiveError: the archive is damaged, too large or exceeds a storage limit, or a project
            with that short name exists; nothing was written.
    """
    try:
        check_directory(source)
        with (
            _as_file(source) as path,
            zipfile.ZipFile(path) as archive,
            transaction.atomic(),
        ):
            check_members(archive, most_bytes=settings.ARCHIVE_LIMIT_BYTES)
            newest = newest_event()
            manifest = read_manifest(archive)
            project = _new_project(
                manifest, slug=free_slug(name or manifest.name) if anew else slug, name=name
            )
            _copy_records(path, manifest, set(archive.namelist()), project)
            # Variable names of another site mean nothing here; a user of this site has to enter
            # them.
            project.endpoints.update(key_env="")
            _take_known_answers(project)
            if give_to:
                give_to(project)
            check_storage(project)
            note_change(project.pk)
            as_own_draw(project, after=newest)
            refresh_statistics(stored.table for stored in STORED.values())
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


def _take_known_answers(project: Project) -> None:
    """Rebuild the campaigns' known answers from their items; drafts then have no items."""
    execute_sql(
        """UPDATE annotations_campaign c SET gold = g.gold FROM (
               SELECT i.campaign_id, jsonb_agg(jsonb_build_object('document', i.document_id,
                   'outputs', i.outputs, 'expected', i.expected) ORDER BY i.position) AS gold
               FROM annotations_campaignitem i WHERE i.kind IN ('gold', 'practice')
                   AND i.expected IS NOT NULL GROUP BY i.campaign_id) AS g
           WHERE g.campaign_id = c.id AND c.project_id = %s""",
        [project.pk],
    )
    for draft in project.campaigns.filter(state="draft"):
        draft.items.all().delete()


def first_line(error: Exception) -> str:
    return str(error).split("\n")[0]


def _new_project(manifest: ArchiveManifest, *, slug: str, name: str) -> Project:
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
    """Return the archive as a file that a separate process can read."""
    if isinstance(source, Path):
        yield source
        return
    with tempfile.NamedTemporaryFile(suffix=".zip") as file:
        shutil.copyfileobj(source, file)
        file.flush()
        yield Path(file.name)


def _copy_records(path: Path, manifest: ArchiveManifest, names: set[str], project: Project) -> None:
    """Copy all records into their tables; a separate process unpacks and reads them."""
    files = {file.member: file for file in manifest.files}
    if missing := sorted(files.keys() - names):
        raise ArchiveError(f"{missing[0]} is missing in the archive; export it again.")
    ids = NewIds()
    readers = {name: RecordReader(file, ids, record_check(file)) for name, file in files.items()}
    try:
        with closing(zip_apart(path, list(files))) as parts:
            for part in parts:
                _copy(readers[part.name], part.records, project)
    except ReadingError as error:
        raise ArchiveError(str(error)) from None
    for name, reader in readers.items():
        manifest.check_count(reader.file, reader.line)
        if reader.ignored:
            log.warning("obsolete records ignored", file=name, records=reader.ignored)


def _copy(reader: RecordReader, records: list[Any], project: Project) -> None:
    """Copy the next records of a file into its table."""
    stored = STORED[reader.file.name]
    in_project = {"project_id": project.pk} if stored.of_project else {}
    columns = ("id", *in_project, *reader.file.columns, *stored.defaults)
    quoted = ", ".join(f'"{column}"' for column in columns)
    try:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT nextval(pg_get_serial_sequence(%s, 'id')) FROM generate_series(1, %s)",
                [stored.table, len(records)],
            )
            ids = [pk for (pk,) in cursor.fetchall()]
            with cursor.copy(f"COPY {stored.table} ({quoted}) FROM STDIN") as copy:
                for record, new_id in zip(records, ids, strict=True):
                    if values := reader.values(record, new_id):
                        copy.write_row(
                            [new_id, *in_project.values(), *values, *stored.defaults.values()]
                        )
    except (DatabaseError, psycopg.Error) as error:
        if is_disk_full(error):
            raise
        raise ArchiveError(
            f"{reader.file.member}: the database refuses its rows: {first_line(error)}."
        ) from error


# Checks of records


def record_check(file: RecordFile) -> Callable[[Mapping[str, Any]], None]:
    """Return a check of a file's records: each field except references, then rules that involve
    several fields. The check raises WrongValueError, or KeyError if a field is missing."""
    checks = _field_checks(file)
    check_record = _RECORD_CHECKS.get(file.name)

    def check(row: Mapping[str, Any]) -> None:
        for name, check_value in checks.items():
            check_field(name, check_value, row[name])
        file.check(row)
        if check_record:
            check_record(row)

    return check


def _field_checks(file: RecordFile) -> dict[str, Check]:
    fields = {field.column: field for field in _model_of(file)._meta.concrete_fields}
    checks: dict[str, Check] = {}
    for column, of in file.columns.items():
        if isinstance(of, Refs):
            checks[of.field] = _check_systems
        elif isinstance(of, NamedAnswer):
            checks[of.field] = _field_check(fields[column], ANSWER)
        elif not isinstance(of, Ref):
            checks[of] = _field_check(fields[column], file.json.get(of))
    if file.answers:
        checks["systems"] = _check_systems
    return checks


def _model_of(file: RecordFile) -> type[models.Model]:
    return next(
        model
        for model in apps.get_models(include_auto_created=True)
        if model._meta.db_table == STORED[file.name].table
    )


def _field_check(field: models.Field[Any, Any], shape: TypeAdapter[Any] | None = None) -> Check:
    kind = next(
        (check for types, check in _VALUES_OF_FIELDS if isinstance(field, types)),
        lambda value: value,
    )

    choices = {key for key, _label in field.flatchoices}

    def check(value: Any) -> None:
        if value is None:
            if not field.null:
                raise WrongValueError("is empty")
            return
        converted = kind(value)
        if shape:
            # Compared as JSON, where a list may represent a tuple and nothing else is converted.
            shape.validate_json(orjson.dumps(value), strict=True)
        if choices and converted not in choices and not (converted == "" and field.blank):
            raise WrongValueError(
                f"is {str(value)[:40]!r}, which is not one of {', '.join(map(str, choices))}"
            )
        try:
            field.run_validators(converted)
        except ValidationError as error:
            raise WrongValueError(" ".join(error.messages)) from None

    return check


def _check_systems(value: Any) -> None:
    SYSTEMS.validate_json(orjson.dumps(value), strict=True)
    if len(set(value)) != len(value):
        raise WrongValueError("names a system twice")


def _moment_value(value: Any) -> datetime.datetime:
    try:
        moment = parse_datetime(value) if isinstance(value, str) else None
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None or moment.year not in YEARS:
        raise WrongValueError(f"is not a date with a time zone ({str(value)[:40]})")
    return moment


_VALUES_OF_FIELDS: tuple[tuple[Any, Callable[[Any], Any]], ...] = (
    (models.BooleanField, flag_value),
    (models.IntegerField, whole_value),
    (models.FloatField, number_value),
    (models.DecimalField, decimal_value),
    (models.DateTimeField, _moment_value),
    (models.JSONField, json_value),
    ((models.CharField, models.TextField), text_value),
)


# A run stores its judge's settings when it starts.
_JUDGE_CHECKS = {
    field.name: _field_check(field)
    for field in Judge._meta.concrete_fields
    if field.name in JUDGE_NUMBERS
}


# These need to know the site


def _check_judge(row: Mapping[str, Any]) -> None:
    try:
        make_evaluator(row["kind"], row["settings"])
    except EvaluatorError:
        pass  # the package of this kind may be installed only on the other site
    except SettingsError as error:
        raise WrongValueError(f"settings: {error}") from None


def _check_run(row: Mapping[str, Any]) -> None:
    for name in sorted(JUDGE_NUMBERS):
        value = row["parameters"].get(name)
        if value is not None:
            check_field(name, _JUDGE_CHECKS[name], value)


def _check_candidate(row: Mapping[str, Any]) -> None:
    if row["formula"]:
        check_field("formula", CriterionFormula.model_validate, row["formula"])


def _check_policy(row: Mapping[str, Any]) -> None:
    rules = {"rule": row["rule"]} | ({"second_rule": row["second_rule"]} if row["second"] else {})
    for name, rule in rules.items():
        check_field(name, read_rule, rule)
    check_field("content", read_answer, row["content"])
    if row["promise"] != row["content"]["promise"]:
        raise WrongValueError("promise is not that of its content")


_RECORD_CHECKS: dict[str, Callable[[Mapping[str, Any]], None]] = {
    "judges": _check_judge,
    "runs": _check_run,
    "candidates": _check_candidate,
    "policies": _check_policy,
}
