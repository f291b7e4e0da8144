"""What a file's columns are, for the upload page and the command alike: recognised by names and
contents, or remembered from an earlier file with the same columns."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from evaluations.corpus.apart import preview_apart
from evaluations.corpus.mapping import SEVERAL, is_native
from evaluations.corpus.preview import Preview
from evaluations.corpus.questions import UploadQuestion
from evaluations.corpus.rater_names import KnownNames
from evaluations.corpus.readers import InputFile
from evaluations.corpus.rows import Columns
from evaluations.models import JudgeKind, Project, SavedColumns

LONGEST_NAME = 90


@dataclass(frozen=True)
class RecognisedFile:
    """A file's preview, the meaning of its columns, and what is still to be asked."""

    preview: Preview
    columns: Columns
    questions: tuple[UploadQuestion, ...] = ()


def recognise_file(
    path: Path, name: str, known: KnownNames, saved: Iterable[SavedColumns]
) -> RecognisedFile:
    """The columns that were remembered for a file like this one, or what they seem to be."""
    preview = preview_apart(path, name, known)
    names = sorted(column.name for column in preview.columns)
    like = next((one for one in saved if one.file_columns == names), None)
    if like is not None:
        return RecognisedFile(replace(preview, questions=()), like.columns)
    return RecognisedFile(preview, preview.guess, preview.questions)


def known_names(project: Project) -> KnownNames:
    """The names of a project by which columns are recognised."""
    return KnownNames(
        criteria=tuple(project.criteria.values_list("name", flat=True)),
        annotators=tuple(project.annotators.values_list("name", flat=True)),
        judges=tuple(project.judges.filter(kind=JudgeKind.IMPORTED).values_list("name", flat=True)),
    )


def with_columns(found: RecognisedFile, said: Columns) -> RecognisedFile:
    """A file with what somebody says of its columns ("": left out); that answers questions."""
    if not said:
        return found
    taken = {target for target in said.values() if target not in SEVERAL}
    columns = {
        name: target
        for name, target in found.columns.items()
        if name not in said and target not in taken
    }
    columns |= {name: target for name, target in said.items() if target}
    open_ = tuple(one for one in found.questions if not set(said) & columns_asked_about(one))
    return RecognisedFile(found.preview, columns, open_)


def columns_asked_about(question: UploadQuestion) -> set[str]:
    return {name for choice in question.choices for name in choice.columns}


def answered(columns: Columns, choice: Mapping[str, str]) -> dict[str, str]:
    """Columns after a question about them was answered."""
    kept = {name: target for name, target in columns.items() if name not in choice}
    return kept | {name: target for name, target in choice.items() if target}


def input_file(path: Path, name: str, columns: Columns, guess: Columns) -> InputFile:
    """A file as readers take it: they know the names of some columns by themselves.

    Columns that somebody left out, but readers would use, have to be passed as well.
    """
    if columns == guess and is_native(columns):
        return InputFile(path, name, named=columns)
    return InputFile(path, name, dict(columns))


def remember_columns(
    project: Project, name: str, file_columns: Sequence[str], columns: Columns
) -> None:
    """Use these columns for the project's next file with the same header, under a file's name."""
    header = sorted(file_columns)
    saved = project.saved_columns
    if saved.filter(file_columns=header).update(columns=dict(columns)):
        return
    taken, stem, number = set(saved.values_list("name", flat=True)), name[:LONGEST_NAME], 1
    free = stem
    while free in taken:
        number += 1
        free = f"{stem} ({number})"
    saved.create(name=free, file_columns=header, columns=dict(columns))


def unanswered(files: Sequence[RecognisedFile]) -> list[UploadQuestion]:
    return [question for file in files for question in file.questions]
