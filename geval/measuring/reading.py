"""Find the columns of files with ratings and scores: as recognised by the upload page, unless
columns are named."""

import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from geval.files import contradictions
from geval.files.apart import (
    ReadingError,
    column_names_apart,
    columns_apart,
    preview_apart,
    read_apart,
)
from geval.files.cells import (
    RATERS,
    CellColumn,
    base_of,
    cell_of,
    judges_in,
    people_and_judges,
    separated_in,
)
from geval.files.contents import ColumnContent
from geval.files.contradictions import ContradictionError, Repeats
from geval.files.fields import SESSION
from geval.files.limits import file_limits
from geval.files.mapping import TARGETS, is_native, plain_names, problems_of
from geval.files.preview import Preview
from geval.files.questions import UploadAnswer, UploadQuestion
from geval.files.rater_names import is_mean
from geval.files.readers import InputFile
from geval.files.recognition import side_of_labels
from geval.files.rows import (
    Columns,
    FileDefaults,
    FileErrors,
    OutputRow,
    RatingRow,
    Row,
    ScoreRow,
    as_in_file,
)
from geval.files.score_records import PROBABILITY
from geval.files.unused import Unused
from geval.files.word_ratings import UnknownWords, WordError, WordRatings
from geval.measuring.inputs import InputError, TableInput
from geval.measuring.series import rows_by_column
from geval.reports.by_field import SYSTEM as SYSTEM_FIELD
from geval.statistics.locked_rule import GROUP
from geval.statistics.scales import Scale
from geval.texts.sentences import did_you_mean

# Default names of a criterion, a rater and a judge.
UNNAMED_CRITERION, UNNAMED_RATER, UNNAMED_JUDGE = "quality", "human", "judge"
# Errors often share a cause, and these fit in a terminal.
SHOWN_ERRORS = 5
# Of a column in an error: in a file that is no table its first line is one.
MOST_OF_A_NAME = 30
# Names (that no file has) of columns that are added where rows name no document or no system, or
# outputs have no source; and the values of the last two.
ROW, SYSTEM, SOURCE = "geval row", "geval: system", "geval: source"
ONLY_SYSTEM, NO_SOURCE = "system", "geval: no source"
# What to do about two outputs of one name.
TELL_APART = (
    "; name the columns that tell them apart: document=… and system=…; where one system wrote them"
    " all, name the column of documents by group=…"
)
# The name of a row as an unnamed document.
ROW_NAME = re.compile(r"row \d+")
# Answers a question, or gives None.
Ask = Callable[[UploadQuestion], UploadAnswer | None]


def nobody(_question: UploadQuestion) -> None:
    """Answer no question, where nobody can be asked."""


class QuestionError(InputError):
    """The meaning of a file's columns is unclear; the message says what to pass."""


@dataclass(frozen=True)
class Naming:
    """The user's names of columns: those with people's ratings and with judges' scores, those that
    name the criterion, the document and the system, and those with outputs and the texts they were
    written about. `criterion` may be the name of the criterion itself. In files with a row for each
    rating, `human` and `judge` name people and judges that count."""

    human: tuple[str, ...] = ()
    judge: tuple[str, ...] = ()
    criterion: str = ""
    document: str = ""
    system: str = ""
    output: str = ""
    source: str = ""
    group: str = ""

    @classmethod
    def of(cls, names: Mapping[str, tuple[str, ...]]) -> "Naming":
        """Return the names of columns by role, as of `named_columns`.

        Raises:
            InputError: several columns are named where there is one.
        """
        single = {role: given for role, given in names.items() if role not in ("human", "judge")}
        for role, given in single.items():
            if len(given) > 1:
                raise InputError(f"{role}= names one column, not {len(given)}.")
        roles = ("criterion", "document", "system", "output", "source", "group")
        columns = ("".join(single.get(role, ())) for role in roles)
        return cls(names.get("human", ()), names.get("judge", ()), *columns)

    @property
    def columns(self) -> dict[str, str]:
        """The meanings of single columns, by name; without the criterion, which may be its name."""
        named = {
            self.document: "doc_id",
            self.system: "system_id",
            self.output: "output",
            self.source: "source",
            self.group: GROUP,
        }
        return {name: target for name, target in named.items() if name}


def rows_of(
    files: Sequence[InputFile],
    naming: Naming,
    ask: Ask = nobody,
    *,
    scale_of: Callable[[str], Scale | None] = lambda _criterion: None,
    unused: Unused | None = None,
    by_column: bool = False,
    unknown: UnknownWords | None = None,
    answers: frozenset[str] = frozenset(),
) -> Iterator[Row]:
    """Return the rows of files; repeated rows are left out.

    Args:
        scale_of: returns the given scale of a criterion.
        unused: gets what of the files is not used.
        unknown: gets the words that are no ratings, and how many ratings there are.
        ask: answers open questions about a file, if it can.
        by_column: in place of ratings and scores, a single plain table gives series of them.
        answers: the names of points of all scales, in lower case.

    Raises:
        QuestionError: the meaning of a column must be given.
        InputError: a file cannot be read, or has errors; the first are listed with their lines.
    """
    errors = FileErrors(most=SHOWN_ERRORS, field_limit=file_limits().field_bytes)
    defaults = FileDefaults(
        answers=answers,
        judge=naming.judge[0] if len(naming.judge) == 1 else UNNAMED_JUDGE,
        criterion=naming.criterion,
        annotator=UNNAMED_RATER,
    )
    paths = [file.path.resolve() for file in files]
    repeats, words = Repeats(), WordRatings()
    columns: dict[str, Columns] = {}
    for file in files:
        beside = tuple(path for path in paths if path != file.path.resolve())
        named = _with_names(replace(_with_columns(file, naming, ask), beside=beside))
        columns[file.name] = named.columns
        table = named if isinstance(named, TableInput) else None
        if by_column and len(files) == 1:
            lines = table.batches(defaults) if table else columns_apart(named, defaults)
            if rows := rows_by_column(lines, scale_of, errors.unused):
                yield from rows
                continue
        if table:
            table.write_all()
        for given in read_apart(named, errors, defaults=defaults):
            row = given
            try:
                if isinstance(given, ScoreRow):
                    row = words.read(given, file.name, scale_of(given.criterion), unknown)
                if repeats.is_new(row, f"{file.name}:{row.line}"):
                    if isinstance(row, RatingRow):
                        _check_scale(row, scale_of(row.criterion))
                    yield row
            except WordError as error:
                errors.add(file.name, given.line, error.column, str(error))
            except ContradictionError as error:
                hint = TELL_APART if error.column == "output" else ""
                errors.add(file.name, row.line, error.column, f"{error}{hint}")
    words.report_mixtures(errors)
    if unused is not None:
        for (name, unread), number in errors.unused.rows.items():
            in_file = {of: column for column, of in columns.get(name, {}).items()}
            unused.add(name, str(in_file.get(unread, unread.removeprefix("metadata."))), number)
    if errors.total:
        unlisted = errors.total - len(errors.listed)
        more = [f"… and {unlisted} more"] if unlisted else []
        listed = [str(as_in_file(error, columns.get(error.file, {}))) for error in errors.listed]
        raise InputError("\n".join([*listed, *more]))


def criterion_named(files: Sequence[InputFile], naming: Naming) -> str:
    """Return the criterion that was named; empty if that is the name of a column."""
    named = naming.criterion
    is_column = bool(named) and any(named in column_names(file) for file in files)
    return "" if is_column else named


def unnamed_judges(files: Sequence[InputFile], naming: Naming) -> set[str]:
    """Return the other columns of numbers on a named judge's scale in tables with a column for each
    judge, where judges are named: the named one may be the best of them."""
    if not naming.judge:
        return set()
    named = {*naming.human, *naming.judge, *naming.columns, naming.criterion}
    others: set[str] = set()
    for file in files:
        if naming.judge[0] not in column_names(file):
            continue
        columns = preview_apart(file.path, file.name, sheet=file.sheet).columns
        contents = [ColumnContent(column.name, column.values) for column in columns]
        scale = [
            number
            for content in contents
            if content.name in {*naming.human, *naming.judge}
            for number in content.numbers
        ]
        others |= {
            column.name
            for column, content in zip(columns, contents, strict=True)
            if column.name not in named
            and not is_mean(column.name)
            and (not column.guess or column.guess.startswith(("score", "rating", "judge")))
            and content.may_be_scores
            and min(scale, default=1) <= min(content.numbers)
            and max(content.numbers) <= max(scale, default=0)
        }
    return others


def values_by_document(
    field: str,
    rows: Sequence[object],
    files: Sequence[InputFile],
    naming: Naming,
    ask: Ask,
    scale_of: Callable[[str], Scale | None],
) -> dict[str, str]:
    """Return each document's value of a field: of its metadata, or of a column of that name.

    Args:
        rows: of the files.
        scale_of: returns the scale of a criterion.

    Raises:
        InputError: there is no such field, or a document has two values.
    """
    if field == SYSTEM_FIELD:
        return {}
    metadata = _values_of(
        field,
        (
            (row.doc_id or row.source, row.metadata[field])
            for row in rows
            if isinstance(row, OutputRow) and field in row.metadata
        ),
    )
    if metadata:
        return metadata
    having = [file for file in files if field in column_names(file)]
    if not having:
        names = {name for file in files for name in column_names(file)}
        raise InputError(no_column("field", field, names))
    own = replace(naming, group=field)
    return _values_of(
        field,
        (
            (row.doc_id or row.source, row.group)
            for row in rows_of(having, own, ask, scale_of=scale_of)
            if isinstance(row, ScoreRow | OutputRow) and row.group
        ),
    )


def _values_of(field: str, pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return each document's value of a field.

    Raises:
        InputError: a document has two values.
    """
    values: dict[str, str] = {}
    for name, value in pairs:
        if values.setdefault(name, value) != value:
            raise InputError(
                f"Document {name[:80]} has the {field} {values[name][:80]!r} and {value[:80]!r};"
                " choose a field of which each document has one value."
            )
    return values


def _check_scale(row: RatingRow, scale: Scale | None) -> None:
    """Refuse a rating outside the given scale."""
    if scale is not None and not scale.holds(row.score):
        message = contradictions.OUTSIDE.format(row.score, row.criterion, scale)
        raise ContradictionError(row.column, message)


def _with_columns(file: InputFile, naming: Naming, ask: Ask) -> InputFile:
    """Return a file with the meanings of its columns, recognised, given or asked for."""
    preview = preview_apart(file.path, file.name, sheet=file.sheet)
    if preview.error:
        message = preview.error
        raise InputError(message if file.name in message else f"{file.name}: {message}")
    names = column_names(file) if _names_columns(naming) else frozenset(preview.guess)
    columns = _columns(preview, names, naming)
    columns = _with_named_raters(columns, preview, naming)
    if columns is None and preview.questions:
        answer = ask(preview.questions[0])
        if answer is None:
            raise QuestionError(_as_an_error(preview))
        if answer.sheet:
            return _with_columns(replace(file, sheet=answer.sheet), naming, ask)
        columns = {name: of for name, of in (_guess(preview) | dict(answer.columns)).items() if of}
    if columns is None:
        return file
    if PROBABILITY in names and PROBABILITY not in columns:
        # With people in columns; weights that are silently ignored would change the numbers.
        raise InputError(
            f"{file.name}: a column “{PROBABILITY}” is read in tables with a row for each rating,"
            " not in those with a column for each person. Put each rating into a row, or remove"
            " the column to let all outputs count alike."
        )
    if message := _unnamed_documents(columns):
        raise QuestionError(f"{file.name}: {message} {_columns_are(names)}")
    if problems := [problem for problem in problems_of(columns) if not _is_filled_in(problem)]:
        raise QuestionError(f"{file.name}: {' '.join(problems)} {_how_to_say(preview)}")
    return replace(file, columns=columns)


def _with_named_raters(
    columns: Mapping[str, str] | None, preview: Preview, naming: Naming
) -> Mapping[str, str] | None:
    """Return columns in which a column of raters has the judges among them, where people or judges
    were named: those named, and names of models that are no person's. It answers the question who
    is a judge, if nothing else is asked first."""
    if not (naming.human or naming.judge):
        return columns
    asked = [judges_in(question.choices[0].columns) for question in preview.questions]
    if columns is None and asked and asked[0]:
        columns = _guess(preview)
    judges = frozenset(naming.judge).union(*asked) - {*naming.human}
    if not columns or not judges or "judge" in columns.values():
        return columns
    return {
        name: people_and_judges(sorted(judges)) if target == RATERS else target
        for name, target in columns.items()
    }


def _is_filled_in(problem: str) -> bool:
    """Return whether a problem is only that documents or systems have no names, or outputs no
    source: then each row is a document, there is one system, and outputs have no source."""
    return any(TARGETS[target] in problem for target in ("doc_id", "system_id", "source")) or (
        "no document's name is needed" in problem
    )


def _unnamed_documents(columns: Mapping[str, str]) -> str:
    """Return a message for rows that name no document and have no output: with a source text, which
    identifies only the document of an output, or with one rating by a named rater."""
    targets = [*map(base_of, columns.values())]
    if {"doc_id", "output"} & {*targets}:
        return ""
    rated = sum(target in ("ratings", "scores", "score") for target in targets)
    if rated == 1 and {"annotator", "judge", RATERS} & {*targets} and "source" not in targets:
        return "Rows name no document. Pass document= with the column that names what was rated."
    return next(
        (
            f"Rows name no document and have no output. Pass document={name!r} to take rows with"
            " the same text there as one document, or document= with another column."
            for name, target in columns.items()
            if target == "source"
        ),
        "",
    )


def _lacking(columns: Mapping[str, str]) -> set[str]:
    """Return what rows with these columns lack: the system, the source, and the document's name."""
    targets = {*map(base_of, columns.values())}
    lacking = set() if "winner" in targets else {"system_id"} - targets
    if not {"doc_id", "source"} & targets:
        lacking.add("doc_id")
    if "output" in targets and "source" not in targets:
        lacking.add("source")
    return lacking


def _with_names(file: InputFile) -> InputFile:
    """Return a file whose rows name a document and a system: unnamed documents are numbered."""
    lacking = _lacking(file.columns) if file.columns else set()
    of = {ROW: "doc_id", SYSTEM: "system_id", SOURCE: "source"}
    values = {ROW: "row #", SYSTEM: ONLY_SYSTEM, SOURCE: NO_SOURCE}
    targets = {name: target for name, target in of.items() if target in lacking}
    added = {name: values[name] for name in targets}
    return replace(file, columns=dict(file.columns) | targets, added=added)


def _guess(preview: Preview) -> dict[str, str]:
    """Guess the meanings of columns. Next to ratings and scores, too, a column may state a
    document's session, which on a site comes from the output."""
    guess = preview.guess
    if guess and "output" not in {*map(base_of, guess.values())} and "doc_id" not in guess.values():
        # A text on its own is what was rated.
        guess = {
            name: "output" if of == "source" and name.strip().lower() == "text" else of
            for name, of in guess.items()
        }
    for target in (SESSION, GROUP):
        if guess and target not in guess.values():
            columns = plain_names([column.name for column in preview.columns])
            guess |= {name: target for name, plain in columns.items() if plain == target}
    return guess


def _columns(preview: Preview, names: frozenset[str], naming: Naming) -> Mapping[str, str] | None:
    """Return the meanings of columns; None if readers recognise the file as it is, or a question is
    open."""
    by_row = next((name for name in (naming.criterion, "criterion") if name in names), "")
    guessed = _guess(preview)
    cells = _cells(names, naming, by_row=bool(by_row))
    if cells and not by_row and not (naming.human and naming.judge):
        cells = _with_other_side(cells, guessed, naming.criterion, names)
    stated = cells | naming.columns
    if by_row and (cells or by_row == naming.criterion != "criterion"):
        stated[by_row] = "criterion"
    if unknown := [name for name in naming.columns if name not in names]:
        raise InputError(no_column("column", unknown[0], names))
    if not stated:
        is_whole = is_native(guessed) and not _lacking(guessed)
        if preview.questions or preview.structure or is_whole:
            return None
        return guessed
    guess = {
        name: target
        for name, target in guessed.items()
        # Other columns of numbers were not requested.
        if not cells or not target.startswith(("ratings", "scores", "score", "annotator", "judge"))
    }
    taken = set(stated.values())
    return {name: target for name, target in guess.items() if target not in taken} | stated


def _with_other_side(
    cells: Mapping[str, str], guessed: Mapping[str, str], criterion: str, names: frozenset[str]
) -> dict[str, str]:
    """Return named columns of ratings, or of scores, with the recognised columns of the other kind
    on the same criteria, where only one kind was named.

    Args:
        criterion: the only one, where it was named.
        names: of all columns.
    """
    recognised = {name: cell for name, target in guessed.items() if (cell := cell_of(target))}
    named = {name: cell for name, target in cells.items() if (cell := cell_of(target))}
    by_judge = next(iter(named.values())).by_judge
    others = {name: cell for name, cell in recognised.items() if cell.by_judge != by_judge}
    rated = {cell.criterion for cell in others.values()}
    only = rated.pop() if len(rated) == 1 else ""
    for name, cell in named.items():
        own = recognised[name].criterion if name in recognised else only
        named[name] = replace(cell, criterion=criterion or own or cell.criterion)
    if criterion and only:
        others = {name: replace(cell, criterion=criterion) for name, cell in others.items()}
    about = {cell.criterion for cell in named.values()}
    others = {name: cell for name, cell in others.items() if cell.criterion in about}
    if not others and len(about) == 1:
        # A name such as `human` tells enough beside a named judge.
        on = about.pop()
        others = {
            name: CellColumn(on, name, by_judge=not by_judge)
            for name in names - cells.keys()
            if side_of_labels(name) is (not by_judge)
        }
    return {name: cell.target for name, cell in (named | others).items()}


def _names_columns(naming: Naming) -> bool:
    return bool(naming.human or naming.judge or naming.criterion or naming.columns)


def _cells(names: frozenset[str], naming: Naming, *, by_row: bool) -> dict[str, str]:
    """Return the named columns of ratings and scores; empty if the names are those of people and
    judges in a file with one row per rating.

    Args:
        by_row: a column names the criterion of each row.
    """
    criterion = "" if by_row else naming.criterion or UNNAMED_CRITERION
    if twice := names.intersection(naming.human, naming.judge):
        raise InputError(
            f"Column {min(twice)!r} is named as a person's and as a judge's; name it once."
        )
    columns = {
        **dict.fromkeys(naming.human, False),
        **dict.fromkeys(naming.judge, True),
    }
    return {
        name: CellColumn(criterion, name, by_judge=by_judge).target
        for name, by_judge in columns.items()
        if name in names
    }


def column_names(file: InputFile) -> frozenset[str]:
    """Return the columns of a table, even if a preview cuts them."""
    try:
        return column_names_apart(file)
    except ReadingError as error:
        raise InputError(f"{file.name}: {error}") from None


def _as_an_error(preview: Preview) -> str:
    question = preview.questions[0]
    choices = "; ".join(f"{choice.label}: {choice.gives}" for choice in question.choices)
    if judges := sorted(judges_in(question.choices[0].columns)):
        options = " ".join(f"--judge {shlex.quote(judge)}" for judge in judges)
        ways = f"If a judge, pass judge={judges!r} ({options}); if a person, the same with human."
        return f"{question.text} {ways}"
    if separated_in(question.choices[0].columns):
        name = next(iter(question.choices[0].columns))
        return (
            f"{question.text} If each output is a document of its own, pass document={name!r}. If"
            " systems wrote them, name the system of each row in a column and pass system=…."
        )
    return f"{question.text} ({choices}) {_how_to_say(preview)}"


def _how_to_say(preview: Preview) -> str:
    names = frozenset(column.name for column in preview.columns)
    return (
        "Name the columns: human and judge with ratings, output, text (what outputs were written"
        " about), criterion, document and system where there are such; in a terminal --human"
        " COLUMN, --judge COLUMN and so on."
        f" {_columns_are(names)}"
    )


def no_column(kind: str, name: str, names: Iterable[str]) -> str:
    """Return the message about a name that no column has, with the nearest and all names."""
    meant = did_you_mean(name, sorted(names))
    return f"There is no {kind} {name!r}.{meant} {_columns_are(frozenset(names))}"


def _columns_are(names: frozenset[str]) -> str:
    listed = ", ".join(name[:MOST_OF_A_NAME] for name in sorted(names))
    return f"Its columns are {listed or 'none'}."
