"""Which columns of files are ratings and scores: what the upload page recognises, unless somebody
names columns."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from geval.files.cells import CellColumn
from geval.files.limits import file_limits
from geval.files.mapping import is_native, problems_of
from geval.files.opening import open_packed
from geval.files.preview import Preview, preview_file
from geval.files.readers import InputFile, read_rows
from geval.files.records import Objects, Table, records_of
from geval.files.rows import FileDefaults, FileErrors, Row
from geval.measuring.inputs import InputError

# What a criterion, a rater and a judge are called that nobody named.
UNNAMED_CRITERION, UNNAMED_RATER, UNNAMED_JUDGE = "quality", "human", "judge"
SHOWN_ERRORS = 5
ROW = "row"


class QuestionError(InputError):
    """A file leaves open what its columns are; the message says what to pass."""


@dataclass(frozen=True)
class Naming:
    """What somebody says of columns: those with people's ratings and with judges' scores, and those
    that name the criterion, the document and the system. `criterion` may be the name of the
    criterion itself. In files with a row for each rating, `human` and `judge` name people and
    judges that count."""

    human: tuple[str, ...] = ()
    judge: tuple[str, ...] = ()
    criterion: str = ""
    document: str = ""
    system: str = ""


def as_names(given: str | Sequence[str] | None) -> tuple[str, ...]:
    """One name or several."""
    if given is None:
        return ()
    return (given,) if isinstance(given, str) else tuple(given)


def rows_of(files: Sequence[InputFile], naming: Naming) -> Iterator[Row]:
    """The rows of files.

    Raises:
        QuestionError: what a column is has to be said.
        InputError: a file cannot be read, or has errors; the first are listed with their lines.
    """
    errors = FileErrors(most=SHOWN_ERRORS, field_limit=file_limits().field_bytes)
    defaults = FileDefaults(
        judge=naming.judge[0] if len(naming.judge) == 1 else UNNAMED_JUDGE,
        criterion=naming.criterion or UNNAMED_CRITERION,
        annotator=UNNAMED_RATER,
    )
    paths = [file.path.resolve() for file in files]
    for file in files:
        beside = tuple(path for path in paths if path != file.path.resolve())
        yield from read_rows(
            replace(_with_columns(file, naming), beside=beside), errors, defaults=defaults
        )
    if errors.total:
        more = (
            f"\n… and {errors.total - len(errors.listed)} more"
            if errors.total > SHOWN_ERRORS
            else ""
        )
        raise InputError("\n".join(map(str, errors.listed)) + more)


def _with_columns(file: InputFile, naming: Naming) -> InputFile:
    preview = preview_file(file.path, file.name, None, file.sheet)
    if preview.error:
        raise InputError(preview.error if file.name in preview.error
                         else f"{file.name}: {preview.error}")  # fmt: skip
    names = _column_names(file) if _names_columns(naming) else frozenset(preview.guess)
    columns = _columns(preview, names, naming)
    if columns is None:
        return file
    if problems := problems_of(columns):
        raise QuestionError(f"{file.name}: {' '.join(problems)} {_how_to_say(preview)}")
    return replace(file, columns=columns)


def _columns(preview: Preview, names: frozenset[str], naming: Naming) -> Mapping[str, str] | None:
    """The meaning of columns; None where readers recognise the file as it is."""
    cells = _cells(names, naming)
    said = cells | {
        column: target
        for column, target in ((naming.document, "doc_id"), (naming.system, "system_id"))
        if column
    }
    if naming.criterion in names:
        said[naming.criterion] = "criterion"
    if unknown := [name for name in (naming.document, naming.system) if name and name not in names]:
        raise InputError(f"There is no column {unknown[0]!r}. {_columns_are(names)}")
    if not said:
        if preview.questions:
            raise QuestionError(_as_an_error(preview))
        columns = preview.guess
        return None if preview.structure or is_native(columns) else columns
    guess = {
        name: target
        for name, target in preview.guess.items()
        # Other columns of numbers are not what was asked for.
        if not cells or not target.startswith(("ratings", "scores", "score", "annotator", "judge"))
    }
    taken = set(said.values())
    return {name: target for name, target in guess.items() if target not in taken} | said


def _names_columns(naming: Naming) -> bool:
    return any((naming.human, naming.judge, naming.criterion, naming.document, naming.system))


def _cells(names: frozenset[str], naming: Naming) -> dict[str, str]:
    """The columns of ratings and scores that were named; empty where names are those of people and
    judges in a file with a row for each rating."""
    criterion = "" if naming.criterion in names else naming.criterion or UNNAMED_CRITERION
    columns = {
        **dict.fromkeys(naming.human, False),
        **dict.fromkeys(naming.judge, True),
    }
    return {
        name: CellColumn(criterion, name, by_judge=by_judge).target
        for name, by_judge in columns.items()
        if name in names
    }


def _column_names(file: InputFile) -> frozenset[str]:
    """The columns of a table, also of one that a preview cuts."""
    errors = FileErrors(most=1)
    with open_packed(file.path) as raw:
        records = records_of(raw, file.name, errors, file.sheet)
        if isinstance(records, Table):
            return frozenset(records.header)
        if isinstance(records, Objects):
            first: Any = next((record for _line, record in records.lines), {})
            return frozenset(first)
    return frozenset()


def _as_an_error(preview: Preview) -> str:
    question = preview.questions[0]
    choices = "; ".join(f"{choice.label}: {choice.gives}" for choice in question.choices)
    return f"{question.text} ({choices}) {_how_to_say(preview)}"


def _how_to_say(preview: Preview) -> str:
    names = frozenset(column.name for column in preview.columns)
    return (
        "Name the columns: human=[…] and judge=[…] with numbers, criterion=, document= and system="
        f" where there are such. {_columns_are(names)}"
    )


def _columns_are(names: frozenset[str]) -> str:
    return f"Its columns are {', '.join(sorted(names)) or 'none'}."
