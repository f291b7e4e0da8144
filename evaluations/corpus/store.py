"""Load files: rows are staged, compared with each other and the project, and merged, all or
nothing, or without the rows that have errors, which are returned with the reasons.

Rows stream through temporary tables by COPY, so that only keys are held in memory. Everything
happens in one transaction; any error rolls it back. Existing records are kept and counted as
unchanged. A dry run does the same, gives an overview of the staged rows, and rolls it back.
"""

from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from django.db import transaction

from evaluations.corpus.load_statements import StatementTimeError, Steps, limited_statements
from evaluations.corpus.locks.locking import record_loaded
from evaluations.corpus.merging import Merge
from evaluations.corpus.row_staging import RowStager, TooManyRowsError
from evaluations.models import Project
from evaluations.models.changes import note_change
from evaluations.models.sizes import refresh_statistics
from evaluations.people.limits import LimitError, check_storage
from geval.files.apart import read_apart
from geval.files.limits import file_limits
from geval.files.load_results import (
    CriterionContents,
    ExampleItem,
    ExampleScore,
    LoadContents,
    LoadResult,
    LoadTally,
)
from geval.files.packed import stem_of
from geval.files.readers import InputFile
from geval.files.refused import RefusedRow, refused_rows, without_errors
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
from geval.files.unused import NOTHING_READ, is_useless
from geval.statistics.scales import names_of_points, short
from geval.texts.sentences import shortened
from geval_site.sql import fetch_row, fetch_rows

# People check at a glance whether columns were understood; more would fill the page.
EXAMPLES = 3
SHOWN_VALUES = 20
SHOWN_NAMES = 200
SHOWN_CHARACTERS = 300
MOST_EXAMPLE_SCORES = 24
# The outputs that are scored first, or else the first outputs.
FIRST_SCORED = """SELECT output FROM (
        SELECT DISTINCT ON (output) output, file, line FROM (
            (SELECT output, file, line FROM stage_rating ORDER BY file, line LIMIT 1000)
            UNION ALL (SELECT output, file, line FROM stage_score ORDER BY file, line LIMIT 1000)
        ) AS scored ORDER BY output, file, line
    ) AS once ORDER BY file, line LIMIT %s"""
STAGED_OUTPUT = f"""SELECT o.doc_id, y.name, left(d.source, {SHOWN_CHARACTERS}),
        left(o.body, {SHOWN_CHARACTERS})
    FROM stage_output o JOIN evaluations_system y ON y.id = o.system
    JOIN stage_document d ON d.doc_id = o.doc_id WHERE o.number = %s LIMIT 1"""
KNOWN_OUTPUT = f"""SELECT d.doc_id, y.name, left(d.source, {SHOWN_CHARACTERS}),
        left(o.text, {SHOWN_CHARACTERS})
    FROM evaluations_candidateoutput o JOIN evaluations_system y ON y.id = o.system_id
    JOIN evaluations_document d ON d.id = o.document_id WHERE o.id = %s"""
# Errors often share a cause, and more would not be read.
LISTED_ERRORS = 100
LABELS = (
    "Most answers on {} are words: {}. Create this criterion first, with these words as its points"
    " (labels without an order, or from the lowest to the highest), and load the files again."
)
GROWING = (
    "evaluations_document",
    "evaluations_candidateoutput",
    "annotations_rating",
    "annotations_preference",
    "evaluations_score",
)
Watch = Callable[[str], None]
NOTHING_SAID = LoadOptions()
# Ratings of a refused output are refused in the next pass, and so on; this ends after few passes,
# or not at all.
MOST_ROUNDS = 5
# Refused rows stay in memory with their reasons; a file with more is in another format.
MOST_REFUSED = 10_000
__all__ = ["FileError", "LoadError", "LoadOptions", "LoadResult", "LoadTally", "load_files"]


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
                    record_loaded(project)
                    steps.begin("statistics of the tables")
                    refresh_statistics(GROWING)
            if dry_run:
                transaction.set_rollback(True)
    except StatementTimeError as error:
        errors.add(files[0].name, 0, "", str(error))
        errors.raise_if_any()
    return result


@dataclass(frozen=True)
class RestLoaded:
    """The result of a load, and the rows that were left out of it."""

    result: LoadResult
    refused: list[RefusedRow]


def load_rest(
    project: Project,
    files: Sequence[InputFile],
    *,
    about: LoadOptions,
    dry_run: bool,
    leave_out: bool,
    watch: Watch = lambda _step: None,
    most_errors: int = LISTED_ERRORS,
) -> RestLoaded:
    """Load files; with `leave_out`, skip the cells and rows that have errors.

    Raises:
        LoadError: there are errors that are not to be skipped, or that are not errors of rows.
    """
    whole, refused = files, list[FileError]()
    for _ in range(MOST_ROUNDS if leave_out else 0):
        try:
            result = load_files(
                project,
                files,
                about=about,
                dry_run=dry_run,
                most_errors=MOST_REFUSED,
                watch=watch,
            )
        except LoadError as error:
            if error.total > len(error.errors) or not all(refusal.line for refusal in error.errors):
                raise
            refused += error.errors
            files = [without_errors(file, error.errors) for file in files]
        else:
            return RestLoaded(result, refused_rows(whole, refused))
    result = load_files(
        project, files, about=about, dry_run=dry_run, most_errors=most_errors, watch=watch
    )
    return RestLoaded(result, refused_rows(whole, refused))


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
    is_mixed = load.words.report_mixtures(errors)
    # Where the rows with such words are left out, there is nothing to explain.
    unknown = load.unknown_words.scales() if errors.total else {}
    for name, scale in unknown.items():
        if name not in load.scales:
            labels = shortened(", ".join(scale.labels), 200)
            errors.begin_with(files[0].name, LABELS.format(name, labels))
    if is_mixed:
        errors.raise_if_any(names=load.columns)
    result = Merge(load, steps).merge()
    try:
        check_storage(project)
    except LimitError as error:
        errors.add(files[0].name, 0, "", str(error))
    if dry_run or errors.total:
        steps.begin("overview")
        result.contents = _contents_of(load)
    else:
        result.contents = LoadContents(tuple(_criteria(load)))
    errors.raise_if_any(result.contents, load.columns)
    result.notes = load.notes
    result.created = load.created.ranges
    result.unused = errors.unused.columns()
    return result


def _stage_files(load: RowStager, files: Sequence[InputFile], about: LoadOptions) -> None:
    """Stage outputs first: files of ratings and scores wait until all outputs are known."""
    held_back = []
    for file in files:
        # Only one file is open at a time. Files that had to wait are read again from the start,
        # including their errors.
        errors = FileErrors(most=load.errors.most, field_limit=load.errors.field_limit)
        errors.left_out = load.errors.left_out
        with closing(_rows_of(file, errors, load, about)) as rows:
            first = next(rows, None)
            if first is None and not errors.total and is_useless(errors.unused):
                errors.add(file.name, 0, "", NOTHING_READ)
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
        load.stage_all(file.name, _rows_of(file, load.errors, load, about))
    load.stage_repeats()


def _rows_of(
    file: InputFile, errors: FileErrors, load: RowStager, about: LoadOptions
) -> Generator[Row, None, None]:
    defaults = FileDefaults(
        about.judge,
        about.criterion,
        stem_of(file.name) or "system",
        about.annotator,
        about.rate,
        answers=names_of_points(load.scales.values()),
    )
    return read_apart(file, errors, defaults=defaults)


def _contents_of(load: RowStager) -> LoadContents:
    """Return what a load's staged rows would create."""
    people = {annotator.pk: annotator.name for annotator in load.annotators.values()}
    judges = {run: name for name, run in load.import_runs.items()}
    systems = {pk: name for name, pk in load.systems.items()}
    return LoadContents(
        criteria=tuple(_criteria(load)),
        raters=_counts("stage_rating", "rater", people),
        judges=_counts("stage_score", "rater", judges),
        systems=_counts("stage_output", "system", systems),
        examples=tuple(_examples(load, people, judges)),
    )


def _criteria(load: RowStager) -> Iterable[CriterionContents]:
    """Yield the criteria of a load's ratings and scores, and the judges whose scores on a criterion
    seem to be on two scales."""
    for name, seen in load.seen.items():
        ratings, criterion = seen.ratings, seen.criterion
        if not ratings.total and not seen.scores.total and not seen.off:
            continue
        is_guess = seen.is_new and name not in load.scales
        is_guess |= criterion.scale_is_guess and name not in load.stated_scales
        shown = sorted(ratings.counts) if len(ratings.counts) <= SHOWN_VALUES else []
        yield CriterionContents(
            criterion.name, seen.is_new, criterion.scale_min, criterion.scale_max,
            criterion.scale_step, is_guess, ratings.total, seen.scores.total,
            {short(value): ratings.counts[value] for value in shown},
            seen.off if len(seen.off) <= SHOWN_VALUES else (seen.off[0], seen.off[-1]),
        )  # fmt: skip
    for mixed in load.mixed_scores:
        # A separate row, so that its scale can be confirmed like those of ratings.
        yield CriterionContents(
            mixed.name, False, mixed.narrow.lowest, mixed.narrow.highest, mixed.narrow.step, True,
            0, mixed.scores, {}, (mixed.wide.lowest, mixed.wide.highest),
        )  # fmt: skip


def _counts(table: str, column: str, names: dict[int, str]) -> dict[str, int]:
    rows = fetch_rows(
        f"""SELECT {column}, count(*) FROM {table} GROUP BY {column}
            ORDER BY min(file), min(line), {column} LIMIT {SHOWN_NAMES}"""
    )
    return {names[pk]: count for pk, count in rows}


def _examples(
    load: RowStager, people: dict[int, str], judges: dict[int, str]
) -> Iterable[ExampleItem]:
    criteria = {seen.criterion.pk: seen.criterion.name for seen in load.seen.values()}
    rows = fetch_rows(FIRST_SCORED, [EXAMPLES])
    numbers = [number for (number,) in rows]
    for number in numbers or range(min(EXAMPLES, len(load.outputs))):
        is_staged = number >= 0
        example = fetch_row(STAGED_OUTPUT if is_staged else KNOWN_OUTPUT, [abs(number)])
        if example is None:
            continue
        scores: list[ExampleScore] = []
        for table, raters in (("stage_rating", people), ("stage_score", judges)):
            rows = fetch_rows(
                f"""SELECT criterion, rater, score FROM {table} WHERE output = %s
                    ORDER BY file, line, criterion, rater LIMIT {MOST_EXAMPLE_SCORES}""",
                [number],
            )
            scores += [
                ExampleScore(criteria.get(criterion, ""), raters[rater], score, raters is judges)
                for criterion, rater, score in rows
            ]
        doc_id, system, source, output = example
        yield ExampleItem(doc_id, system, source, output, tuple(scores))
