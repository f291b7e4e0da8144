"""The meanings of a file's columns, for both the upload page and the command: recognised by names
and contents, or remembered from an earlier file with the same columns."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Protocol

from geval.files.apart import preview_apart
from geval.files.cells import separated_in
from geval.files.column_aliases import KNOWN_NAMES
from geval.files.mapping import SEVERAL, is_native, problems_of
from geval.files.preview import Preview
from geval.files.questions import StatementError, UploadQuestion, listed
from geval.files.rater_names import KnownNames
from geval.files.readers import InputFile
from geval.files.rows import Columns


class SavedLike(Protocol):
    """Remembered columns: the sorted names in a file, and their meanings."""

    @property
    def file_columns(self) -> list[str]: ...

    @property
    def columns(self) -> dict[str, str]: ...

    @property
    def saved_at(self) -> datetime | None: ...


@dataclass(frozen=True)
class RecognisedFile:
    """A file's preview, the meanings of its columns, and the open questions."""

    path: Path
    name: str
    preview: Preview
    columns: Columns
    questions: tuple[UploadQuestion, ...] = ()

    @property
    def column_names(self) -> list[str]:
        return [column.name for column in self.preview.columns]


class UnclearColumnsError(Exception):
    """Files can be read in several ways; each question says what its answers would result in."""

    def __init__(self, questions: list[UploadQuestion]) -> None:
        super().__init__(" ".join(question.text for question in questions))
        self.questions = questions


def recognise_file(
    path: Path, name: str, names: KnownNames, saved: Iterable[SavedLike], sheet: str = ""
) -> RecognisedFile:
    """Return the recognised columns of a file, with what a person changed of a file like it.

    Args:
        sheet: the sheet of a workbook; by default the first that looks like a table, with a
            question.
    """
    preview = preview_apart(path, name, names, sheet)
    columns = sorted(column.name for column in preview.columns)
    like = next((mapping for mapping in saved if mapping.file_columns == columns), None)
    recognised = RecognisedFile(path, name, preview, preview.guess, preview.questions)
    if like is None or asks_for_sheet(preview.questions):
        return recognised
    chosen = with_columns(recognised, like.columns)
    day = f" on {like.saved_at:%Y-%m-%d}" if like.saved_at else ""
    remembered = f"{listed(like.columns)} as you chose{day}"
    return replace(
        chosen, preview=replace(preview, questions=chosen.questions, remembered=remembered)
    )


def changed_columns(columns: Columns, guess: Columns) -> dict[str, str]:
    """Return the columns with a meaning other than the recognised one; "" for those left out."""
    names = dict.fromkeys([*guess, *columns])
    return {
        name: columns.get(name, "")
        for name in names
        if columns.get(name, "") != guess.get(name, "")
    }


def asks_for_sheet(questions: Iterable[UploadQuestion]) -> bool:
    """Return whether a question asks for the sheet of a workbook."""
    return any(choice.sheet for question in questions for choice in question.choices)


def with_columns(recognised: RecognisedFile, choices: Columns) -> RecognisedFile:
    """Apply the user's column choices, which also answer questions; an empty choice ignores the
    column."""
    if not choices:
        return recognised
    taken = {target for target in choices.values() if target not in SEVERAL}
    columns = {
        name: target
        for name, target in recognised.columns.items()
        if name not in choices and target not in taken
    }
    columns |= {name: target for name, target in choices.items() if target}
    open_ = tuple(
        question
        for question in recognised.questions
        if not set(choices) & columns_asked_about(question)
        and not is_settled([choice.columns for choice in question.choices], choices)
    )
    return replace(recognised, columns=columns, questions=open_)


def is_settled(answers: Iterable[Columns], choices: Columns) -> bool:
    """Return whether a question with these answers is about outputs without a column of systems,
    and such a column was chosen since."""
    return "system_id" in choices.values() and any(map(separated_in, answers))


def columns_asked_about(question: UploadQuestion) -> set[str]:
    return {name for choice in question.choices for name in choice.columns}


def answered(columns: Columns, choice: Mapping[str, str]) -> dict[str, str]:
    """Return columns after a question about them was answered."""
    kept = {name: target for name, target in columns.items() if name not in choice}
    return kept | {name: target for name, target in choice.items() if target}


def input_file(
    path: Path,
    name: str,
    columns: Columns,
    guess: Columns,
    sheet: str = "",
    *,
    names: Iterable[str] = (),
) -> InputFile:
    """Return a file for the readers, which recognise the names of some columns themselves.

    Columns that are ignored, by the user or by their contents, but readers would use must be passed
    as well.

    Args:
        names: all columns of the file.
    """
    is_whole = all(column in columns or column not in KNOWN_NAMES for column in names)
    if columns == guess and is_native(columns) and is_whole:
        return InputFile(path, name, named=columns, sheet=sheet)
    return InputFile(path, name, dict(columns), sheet=sheet)


def recognised_files(
    files: Iterable[tuple[Path, str]],
    names: KnownNames,
    saved: Sequence[SavedLike],
    choices: Columns,
    sheet: str = "",
) -> list[RecognisedFile]:
    """Recognise files by path and name, and apply the user's column choices.

    Args:
        names: the names in the project, by which columns are recognised.
        saved: columns that were remembered for files of the project.
        sheet: the sheet to read of workbooks; by default the first that looks like a table.

    Raises:
        StatementError: no file has a column that the user named, or the sheet.
        UnclearColumnsError: a question about them must be answered first.
    """
    recognised_files = []
    for path, name in files:
        file = recognise_file(path, name, names, saved, sheet)
        if asks_for_sheet(file.questions):
            file = recognise_file(path, name, names, saved, file.preview.sheet)
        own = {column: choices[column] for column in file.column_names if column in choices}
        recognised_files.append(with_columns(file, own))
    if sheet and not any(file.preview.sheet == sheet for file in recognised_files):
        raise StatementError(
            next(
                (file.preview.error for file in recognised_files if file.preview.error),
                f"No file has a sheet {sheet}.",
            )
        )
    for column in choices:
        if not any(
            column in file.column_names or file.preview.structure for file in recognised_files
        ):
            raise StatementError(f"No file has a column {column}.")
    if open_ := [question for file in recognised_files for question in file.questions]:
        raise UnclearColumnsError(open_)
    return recognised_files


def as_input(file: RecognisedFile, *, is_chosen: bool) -> InputFile:
    """Return a file to load. Where its columns make no sense, readers report what is missing.

    Raises:
        StatementError: the user chose the columns (`is_chosen`), and they cannot be loaded.
    """
    problems = problems_of(file.columns)
    if is_chosen and problems and not file.preview.structure:
        raise StatementError(" ".join(problems))
    if problems or file.preview.structure or file.preview.error:
        return InputFile(file.path, file.name, sheet=file.preview.sheet)
    return input_file(
        file.path,
        file.name,
        file.columns,
        file.preview.guess,
        file.preview.sheet,
        names=file.column_names,
    )
