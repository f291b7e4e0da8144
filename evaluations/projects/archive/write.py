"""Export a project as an archive; files stream from the database."""

import datetime
import zipfile
from pathlib import Path
from typing import IO

import orjson
from django.db import connection, transaction

from evaluations.corpus.locks.draws import COMMAND_LINE, record, remember
from evaluations.corpus.locks.locking import locked_of
from evaluations.models import Project
from evaluations.models.improving import EventKind, withheld_documents
from evaluations.projects.archive.tables import ARCHIVED_PROBABILITIES, SHOWN_AS, TABLES
from evaluations.ratings.weights import stated_probabilities
from geval_site.version import __version__

FORMAT = "geval-site project"
VERSION = 1
FETCHED_ROWS = 2000
README = """One project of geval_site as plain files: JSON Lines, one record per line, UTF-8.

manifest.json states the format's version and how many records each file has. Import it on another
site with `geval-site import_project FILE`, or on the page that creates a project. Endpoint keys
and members are not included; campaigns are, without their annotators and items. Ratings of locked
documents are left out until the last look; the manifest says of how many documents
(withheld_documents).
"""


def write_archive(
    project: Project, target: Path | IO[bytes], *, with_locked: bool = False
) -> dict[str, int]:
    """Write a project as a zip; returns the number of records by file.

    All files show the project at the same moment, whatever is written to it during the export.
    Ratings of locked documents are left out until the last look.

    Args:
        with_locked: also those, for moving a project to another site, where they are locked as
            well; the certificate says so.
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
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        _stage_probabilities(project.pk)
        for table in TABLES:
            with archive.open(f"{table.name}.jsonl", "w", force_zip64=True) as file:
                counts[table.name] = _write_rows(file, table.select, project.pk, hidden)
        manifest = {
            "format": FORMAT,
            "version": VERSION,
            "software": __version__,
            "written_at": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
            "project": {
                "slug": project.slug,
                "name": project.name,
                "description": project.description,
                "guidelines": project.guidelines,
                **{name: getattr(project, name) for name in SHOWN_AS},
            },
            "records": counts,
            "withheld_documents": len(hidden),
        }
        archive.writestr("manifest.json", orjson.dumps(manifest, option=orjson.OPT_INDENT_2))
        archive.writestr("README.txt", README)
    return counts


def _stage_probabilities(project_id: int) -> None:
    """With which probability outputs were chosen, as the archive's ratings have to state it."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"""DROP TABLE IF EXISTS {ARCHIVED_PROBABILITIES};
                CREATE TEMPORARY TABLE {ARCHIVED_PROBABILITIES} (id bigserial, output_id bigint,
                    criterion_id bigint, probability float8) ON COMMIT DROP"""
        )
        cursor.execute(
            f"""INSERT INTO {ARCHIVED_PROBABILITIES} (output_id, criterion_id, probability)
                SELECT * FROM unnest(%s::bigint[], %s::bigint[], %s::float8[])""",
            [side.tolist() for side in stated_probabilities(project_id)],
        )


def _write_rows(file: IO[bytes], select: str, project_id: int, hidden: list[int]) -> int:
    count = 0
    with connection.chunked_cursor() as cursor:
        cursor.execute(
            f"SELECT row_to_json(r)::text FROM ({select} ORDER BY t.id) AS r",
            {"project": project_id, "hidden": hidden},
        )
        while rows := cursor.fetchmany(FETCHED_ROWS):
            count += len(rows)
            file.write(b"".join(row.encode() + b"\n" for (row,) in rows))
    return count
