"""Loading files, all or nothing: rows are staged, checked against each other and the project, and
then merged.

Rows stream through temporary tables by COPY, so that memory holds keys and never texts. Everything
happens in one transaction; if there is a fault anywhere, nothing stays. What is there already is
left alone and counted as unchanged.
"""

from collections.abc import Callable, Generator, Sequence
from contextlib import closing

from django.conf import settings
from django.db import connection, transaction

from evaluations.changes import note_change
from evaluations.corpus.apart import read_apart
from evaluations.corpus.merging import Merge
from evaluations.corpus.packed import stem_of
from evaluations.corpus.readers import InputFile
from evaluations.corpus.results import LoadResult
from evaluations.corpus.row_staging import Taking, TooManyRowsError
from evaluations.corpus.rows import About, Fault, Faults, LoadError, OutputRow, Row, Unnamed
from evaluations.corpus.staging import Tally
from evaluations.models import Project

LISTED_FAULTS = 100
GROWING = (
    "evaluations_document",
    "evaluations_candidateoutput",
    "annotations_rating",
    "annotations_preference",
    "evaluations_score",
)
Watch = Callable[[str], None]
NOTHING_SAID = About()


def load_files(
    project: Project,
    files: Sequence[InputFile],
    *,
    about: About = NOTHING_SAID,
    rehearse: bool = False,
    most_faults: int = LISTED_FAULTS,
    watch: Watch = lambda _step: None,
) -> LoadResult:
    """Load files into a project, in whatever order they are given.

    Args:
        rehearse: do everything and take it back, to see what it would do.
        most_faults: how many faults are listed; all are counted.
        watch: is told what is written, as it begins.

    Raises:
        LoadError: at least one fault; it lists the first ones of all files, and nothing was
            written.
    """
    with transaction.atomic():
        result = _load(
            project,
            files,
            about,
            Faults(most=most_faults, field_limit=settings.FIELD_LIMIT_BYTES),
            watch,
        )
        if rehearse:
            transaction.set_rollback(True)
        elif result.changed:
            note_change(project.pk)
            watch("statistics of the tables")
            _analyze()
    return result


def _load(
    project: Project, files: Sequence[InputFile], about: About, faults: Faults, watch: Watch
) -> LoadResult:
    Project.objects.select_for_update().get(pk=project.pk)
    load = Taking(project, faults, about)
    try:
        _take_files(load, files, about)
    except TooManyRowsError as error:
        faults.add(error.file, error.line, "", str(error))
        faults.raise_if_any()
    result = Merge(load, watch).merge()
    faults.raise_if_any()
    return result


def _take_files(load: Taking, files: Sequence[InputFile], about: About) -> None:
    """Outputs first: files of ratings and scores are held back until all outputs are known."""
    held_back = []
    for file in files:
        # One file is open at a time; what is held back is begun again, with its faults.
        faults = Faults(most=load.faults.most, field_limit=load.faults.field_limit)
        with closing(_rows_of(file, faults, about)) as rows:
            first = next(rows, None)
            if first is not None and not isinstance(first, OutputRow):
                held_back.append(file)
                continue
            if first is not None:
                load.take(file.name, first)
            for row in rows:
                load.take(file.name, row)
        load.faults.take(faults.listed, faults.total)
    for file in held_back:
        load.take_all(file.name, _rows_of(file, load.faults, about))


def _rows_of(file: InputFile, faults: Faults, about: About) -> Generator[Row, None, None]:
    unnamed = Unnamed(about.judge, about.criterion, stem_of(file.name) or "system", about.annotator)
    return read_apart(file, faults, unnamed=unnamed)


def _analyze() -> None:
    # Statistics of a table that has just grown a hundredfold would mislead the planner until
    # autovacuum comes by.
    with connection.cursor() as cursor:
        for table in GROWING:
            cursor.execute(f"ANALYZE {table}")


__all__ = ["About", "Fault", "LoadError", "LoadResult", "Tally", "load_files"]
