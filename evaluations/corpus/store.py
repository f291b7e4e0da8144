"""Load files, all or nothing: rows are staged, compared with each other and the project, and
merged.

Rows stream through temporary tables by COPY, so that only keys are held in memory. Everything
happens in one transaction; any error rolls it back. Existing records are kept and counted as
unchanged.
"""

from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from django.db import transaction

from evaluations.corpus.bulk import StatementTimeError, Steps, limited_statements
from evaluations.corpus.load_overview import contents_of, criteria_of
from evaluations.corpus.merging import Merge
from evaluations.corpus.row_staging import RowStager, TooManyRowsError
from evaluations.models import Project
from evaluations.models.changes import note_change
from evaluations.models.table_statistics import refresh_statistics
from evaluations.people.limits import LimitError, check_storage
from geval.files.apart import read_apart
from geval.files.limits import file_limits
from geval.files.load_contents import LoadContents
from geval.files.load_results import LoadResult, LoadTally, UnusedColumn
from geval.files.packed import stem_of
from geval.files.readers import InputFile
from geval.files.rows import (
    ConversationRow,
    FileDefaults,
    FileError,
    FileErrors,
    LoadError,
    LoadOptions,
    OutputRow,
    Row,
)

# Errors often share a cause, and more would not be read.
LISTED_ERRORS = 100
GROWING = (
    "evaluations_document",
    "evaluations_candidateoutput",
    "annotations_rating",
    "annotations_preference",
    "evaluations_score",
)
Watch = Callable[[str], None]
NOTHING_SAID = LoadOptions()


def load_files(
    project: Project,
    files: Sequence[InputFile],
    *,
    about: LoadOptions = NOTHING_SAID,
    dry_run: bool = False,
    most_errors: int = LISTED_ERRORS,
    watch: Watch = lambda _step: None,
) -> LoadResult:
    """Load files into a project, in any order.

    Args:
        dry_run: do everything, then roll it back.
        most_errors: maximum number of listed errors; all are counted.
        watch: called with the name of each step as it begins.

    Raises:
        LoadError: at least one error; it lists the first ones, and nothing was written.
    """
    files = [replace(file, beside=_others(file, files)) for file in files]
    errors = FileErrors(most=most_errors, field_limit=file_limits().field_bytes)
    steps = Steps(watch)
    try:
        with transaction.atomic():
            with limited_statements(steps):
                result = _load(project, files, about, errors, steps, dry_run=dry_run)
                if result.changed and not dry_run:
                    note_change(project.pk)
                    steps.begin("statistics of the tables")
                    refresh_statistics(GROWING)
            if dry_run:
                transaction.set_rollback(True)
    except StatementTimeError as error:
        errors.add(files[0].name, 0, "", str(error))
        errors.raise_if_any()
    return result


def _others(file: InputFile, files: Sequence[InputFile]) -> tuple[Path, ...]:
    return tuple(other.path.resolve() for other in files if other is not file)


def _load(
    project: Project,
    files: Sequence[InputFile],
    about: LoadOptions,
    errors: FileErrors,
    steps: Steps,
    *,
    dry_run: bool,
) -> LoadResult:
    # Loads of a project run one after another: each numbers new rows and checks contradictions
    # with what is stored.
    Project.objects.select_for_update().get(pk=project.pk)
    steps.now = "reading the files"
    load = RowStager(project, errors, about)
    load.columns = {file.name: file.columns or file.named for file in files}
    errors.left_out = {file.name: file.left_out for file in files}
    try:
        _stage_files(load, files, about)
    except TooManyRowsError as error:
        errors.add(error.file, error.line, "", str(error))
        errors.raise_if_any(names=load.columns)
    if load.words.report_mixtures(errors):
        errors.raise_if_any(names=load.columns)
    result = Merge(load, steps).merge()
    try:
        check_storage(project)
    except LimitError as error:
        errors.add(files[0].name, 0, "", str(error))
    if dry_run or errors.total:
        steps.begin("overview")
        result.contents = contents_of(load)
    else:
        result.contents = LoadContents(criteria_of(load))
    errors.raise_if_any(result.contents, load.columns)
    result.notes = list(load.word_notes)
    result.unused = [
        UnusedColumn(file, column, rows) for (file, column), rows in errors.unused.rows.items()
    ]
    return result


def _stage_files(load: RowStager, files: Sequence[InputFile], about: LoadOptions) -> None:
    """Stage outputs first: files of ratings and scores wait until all outputs are known."""
    held_back = []
    for file in files:
        # Only one file is open at a time. Files that had to wait are read again from the start,
        # including their errors.
        errors = FileErrors(most=load.errors.most, field_limit=load.errors.field_limit)
        errors.left_out = load.errors.left_out
        with closing(_rows_of(file, errors, about)) as rows:
            first = next(rows, None)
            if first is not None and not isinstance(first, ConversationRow | OutputRow):
                held_back.append(file)
                continue
            if first is not None:
                load.stage(file.name, first)
            for row in rows:
                load.stage(file.name, row)
        load.has_unread_rows |= errors.total > 0
        load.errors.extend(errors.listed, errors.total)
        load.errors.unused.extend(errors.unused.rows)
    for file in held_back:
        load.stage_all(file.name, _rows_of(file, load.errors, about))


def _rows_of(file: InputFile, errors: FileErrors, about: LoadOptions) -> Generator[Row, None, None]:
    defaults = FileDefaults(
        about.judge,
        about.criterion,
        stem_of(file.name) or "system",
        about.annotator,
        about.rate,
    )
    return read_apart(file, errors, defaults=defaults)


__all__ = ["FileError", "LoadError", "LoadOptions", "LoadResult", "LoadTally", "load_files"]
