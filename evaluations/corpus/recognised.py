"""The names in a project by which columns are recognised, and the column choices that it
remembers."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from django.utils import timezone

from evaluations.models import JudgeKind, Project, UploadFile, UploadState
from geval.files.mapping import plain_names
from geval.files.rater_names import KnownNames
from geval.files.recognised import RecognisedFile, changed_columns, recognised_files
from geval.files.rows import Columns

# The database stores 100 characters: this leaves room for a number.
LONGEST_NAME = 90
# Of so many files of a project, the newest, columns are recognised again by their names.
EARLIER_FILES = 100


def known_names(project: Project) -> KnownNames:
    """Return the names in a project by which columns are recognised."""
    return KnownNames(
        criteria=tuple(project.criteria.values_list("name", flat=True)),
        annotators=tuple(project.annotators.values_list("name", flat=True)),
        judges=tuple(project.judges.filter(kind=JudgeKind.IMPORTED).values_list("name", flat=True)),
        columns=_columns_of_earlier_files(project),
    )


def _columns_of_earlier_files(project: Project) -> dict[str, str]:
    """Return the meanings of loaded files' columns by their plain names; newer files decide."""
    files = UploadFile.objects.filter(upload__project=project, upload__state=UploadState.DONE)
    newest = files.order_by("-pk").values_list("columns", flat=True)[:EARLIER_FILES]
    columns: dict[str, str] = {}
    for of_file in newest:
        plain = plain_names(list(of_file))
        columns = {plain[name]: target for name, target in of_file.items()} | columns
    return columns


def files_of_project(
    project: Project, files: Iterable[tuple[Path, str]], columns: Columns, sheet: str = ""
) -> list[RecognisedFile]:
    """Return files for a project, by path and name, as `recognised_files` reads them."""
    saved = list(project.saved_columns.all())
    return recognised_files(files, known_names(project), saved, columns, sheet)


def remember_columns(
    project: Project, name: str, file_columns: Sequence[str], columns: Columns
) -> None:
    """Remember changed columns of a named file for the project's next file with the same header."""
    # The next file may have the columns in another order.
    header = sorted(file_columns)
    saved, now = project.saved_columns, timezone.now()
    if saved.filter(file_columns=header).update(columns=dict(columns), saved_at=now):
        return
    taken, stem, number = set(saved.values_list("name", flat=True)), name[:LONGEST_NAME], 1
    free = stem
    while free in taken:
        number += 1
        free = f"{stem} ({number})"
    saved.create(name=free, file_columns=header, columns=dict(columns), saved_at=now)


def remember_choices(project: Project, files: Iterable[RecognisedFile]) -> None:
    """Remember the user's column choices for the project's next files with the same headers."""
    for file in files:
        changed = changed_columns(file.columns, file.preview.guess)
        if changed and not file.preview.structure:
            remember_columns(project, file.path.name, file.column_names, changed)
