"""Loading files, all or nothing: rows are staged, checked against each other and the project, and then merged.

Rows stream through temporary tables by COPY, so that memory holds keys and never texts. Everything happens in one
transaction; if there is a fault anywhere, nothing stays. What is there already is left alone and counted as unchanged.
"""

from collections.abc import Callable, Iterable, Sequence

from django.conf import settings
from django.db import connection, transaction

from evaluations.changes import note_change
from evaluations.corpus.merging import Merge
from evaluations.corpus.packed import stem_of
from evaluations.corpus.readers import InputFile, read_rows
from evaluations.corpus.results import LoadResult
from evaluations.corpus.rows import About, Fault, Faults, LoadError, OutputRow, Row, Unnamed
from evaluations.corpus.staging import Tally
from evaluations.corpus.taking import Taking, TooManyRowsError
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
        LoadError: at least one fault; it lists the first ones of all files, and nothing was written.
    """
    with transaction.atomic():
        result = _load(project, files, about, Faults(most=most_faults, field_limit=settings.FIELD_LIMIT_BYTES), watch)
        if rehearse:
            transaction.set_rollback(True)
        elif result.changed:
            note_change(project.pk)
            watch("statistics of the tables")
            _analyze()
    return result


def _load(project: Project, files: Sequence[InputFile], about: About, faults: Faults, watch: Watch) -> LoadResult:
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
    scores_only: list[tuple[InputFile, Iterable[Row]]] = []
    for file in files:
        unnamed = Unnamed(about.judge, about.criterion, stem_of(file.name) or "system", about.annotator)
        rows = iter(read_rows(file, load.faults, unnamed=unnamed))
        first = next(rows, None)
        if first is None:
            continue
        if isinstance(first, OutputRow):
            load.take(file.name, first)
            load.take_all(file.name, rows)
        else:
            scores_only.append((file, _chain(first, rows)))
    for file, held_back in scores_only:
        load.take_all(file.name, held_back)


def _chain(first: Row, rest: Iterable[Row]) -> Iterable[Row]:
    yield first
    yield from rest


def _analyze() -> None:
    # Statistics of a table that has just grown a hundredfold would mislead the planner until autovacuum comes by.
    with connection.cursor() as cursor:
        for table in GROWING:
            cursor.execute(f"ANALYZE {table}")


__all__ = ["About", "Fault", "LoadError", "LoadResult", "Tally", "load_files"]
