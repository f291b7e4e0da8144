"""Export a project as an archive; files stream from the database."""

import datetime
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

from django.db import connection, transaction

from evaluations.corpus.locks.draws import COMMAND_LINE, record, remember
from evaluations.corpus.locks.locking import locked_of
from evaluations.models import Project
from evaluations.models.improving import EventKind, withheld_documents
from evaluations.projects.archive.rows import (
    ARCHIVED_ANNOTATORS,
    ARCHIVED_PROBABILITIES,
    select,
)
from evaluations.reports.ratings.human_scores import stated_probabilities
from evaluations.reports.ratings.pseudonyms import ANNOTATORS
from geval.files.archive.manifest import FILES, SHOWN_AS, ArchiveManifest, write_manifest
from geval.files.archive.record_file import RecordFile
from geval.files.archive.record_lines import as_line
from geval_site.sql import execute_sql
from geval_site.version import __version__

# Rows have texts of any length.
FETCHED_ROWS = 2000


def write_archive(
    project: Project,
    target: Path | IO[bytes],
    *,
    with_locked: bool = False,
    pseudonyms: bool = False,
) -> dict[str, int]:
    """Write a project as a zip; return the number of records by file.

    All files show the project at the same moment, whatever is written to it during the export.
    Ratings of locked documents are left out until the last look.

    Args:
        with_locked: include them, for moving a project to another site, where they stay locked; the
            certificate records this.
        pseudonyms: name annotators "annotator 1" and so on, and omit the names of reviewers and
            adjudicators. The texts of comments and reasons are unchanged.
    """
    counts: dict[str, int] = {}
    hidden = withheld_documents(project.pk)
    if locked := locked_of(project):
        record(locked)
        if with_locked and hidden:
            remember(locked, EventKind.COPIED, by=COMMAND_LINE)
            hidden = []
    is_outermost = not connection.in_atomic_block
    with (
        transaction.atomic(),
        zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive,
    ):
        if is_outermost:
            execute_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        _stage_probabilities(project.pk)
        _stage_annotators(project.pk, pseudonyms=pseudonyms)
        criteria = dict(project.criteria.values_list("pk", "name"))
        about = {"project": project.pk, "hidden": hidden, "pseudonyms": pseudonyms}
        for file in FILES:
            with archive.open(file.member, "w", force_zip64=True) as target_file:
                counts[file.name] = _write_rows(target_file, file, about, criteria)
        write_manifest(
            archive,
            ArchiveManifest(
                slug=project.slug,
                name=project.name,
                description=project.description,
                guidelines=project.guidelines,
                shown_as={name: getattr(project, name) for name in SHOWN_AS},
                records=counts,
            ),
            software=__version__,
            written_at=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
            withheld=len(hidden),
        )
    return counts


def _stage_probabilities(project_id: int) -> None:
    """Stage the inclusion probabilities that the archive's ratings have to state."""
    execute_sql(
        f"""DROP TABLE IF EXISTS {ARCHIVED_PROBABILITIES};
            CREATE TEMPORARY TABLE {ARCHIVED_PROBABILITIES} (id bigserial, output_id bigint,
                criterion_id bigint, probability float8) ON COMMIT DROP"""
    )
    execute_sql(
        f"""INSERT INTO {ARCHIVED_PROBABILITIES} (output_id, criterion_id, probability)
            SELECT * FROM unnest(%s::bigint[], %s::bigint[], %s::float8[])""",
        [side.tolist() for side in stated_probabilities(project_id)],
    )


def _stage_annotators(project_id: int, *, pseudonyms: bool) -> None:
    """Stage the names of annotators in the archive."""
    execute_sql(
        f"""DROP TABLE IF EXISTS {ARCHIVED_ANNOTATORS};
            CREATE TEMPORARY TABLE {ARCHIVED_ANNOTATORS} (id bigint PRIMARY KEY, name text)
                ON COMMIT DROP"""
    )
    execute_sql(
        f"INSERT INTO {ARCHIVED_ANNOTATORS} SELECT id, name FROM {ANNOTATORS} AS n",
        {"pseudonyms": pseudonyms, "project": project_id},
    )


def _write_rows(
    target: IO[bytes], file: RecordFile, about: dict[str, Any], criteria: Mapping[int, str]
) -> int:
    count = 0
    with connection.chunked_cursor() as cursor:
        cursor.execute(f"SELECT row_to_json(r)::text FROM ({select(file)}) AS r", about)
        while rows := cursor.fetchmany(FETCHED_ROWS):
            count += len(rows)
            target.write(b"".join(as_line(file, row, criteria) for (row,) in rows))
    return count
