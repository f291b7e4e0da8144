"""Store uploaded files in the database until they are loaded, readable by every worker, and how far
their load is. Progress is written on a separate connection, because a load is one long transaction.
"""

import contextlib
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from evaluations.corpus.recognised import known_names, remember_columns
from evaluations.models import Project, Upload, UploadFile, UploadPart
from evaluations.models.row_by_row import writing_progress
from geval.files.mapping import problems_of
from geval.files.packed import Counter, name_among
from geval.files.readers import InputFile
from geval.files.recognised import changed_columns, input_file, recognise_file
from geval.files.refused import without

# PostgreSQL and its client hold a whole value in memory.
PART_BYTES = 2**20
# No load takes as long: a temporary file that is older is of a process that was killed.
LEFTOVER_SECONDS = 24 * 3600
# How often progress is written: far below `SILENT_SECONDS`, after which the worker counts as dead.
PROGRESS_SECONDS = 0.5


@dataclass(frozen=True)
class ChosenFile:
    """An uploaded file and its current path."""

    path: Path
    name: str


@transaction.atomic
def keep_upload(
    project: Project, user_id: int | None, files: Sequence[ChosenFile], about: dict[str, Any]
) -> Upload:
    """Store files with their previews, and remove abandoned uploads."""
    Upload.objects.filter(project=project).forgotten().delete()
    upload = Upload.objects.create(project=project, made_by_id=user_id, about=about)
    saved, names_in_project = list(project.saved_columns.all()), known_names(project)
    names: set[str] = set()
    for chosen in files:
        recognised = recognise_file(chosen.path, chosen.name, names_in_project, saved)
        file = UploadFile.objects.create(
            upload=upload,
            name=name_among(chosen.name, names),
            size=chosen.path.stat().st_size,
            preview=asdict(recognised.preview),
            columns=recognised.columns,
        )
        _keep_parts(file, chosen.path)
    return upload


def _keep_parts(file: UploadFile, path: Path) -> None:
    with path.open("rb") as stream:
        number = 0
        while content := stream.read(PART_BYTES):
            UploadPart.objects.create(file=file, number=number, content=content)
            number += 1


@contextmanager
def files_of(upload: Upload, counter: Counter | None = None) -> Iterator[list[InputFile]]:
    """Write the files of an upload to a temporary folder, and return them with the meaning of their
    columns."""
    with tempfile.TemporaryDirectory(dir=settings.TEMPORARY_DIR) as folder:
        yield [
            replace(_as_input(_written(file, folder), file), counter=counter)
            for file in upload.files.all()
        ]


def _written(file: UploadFile, folder: str) -> Path:
    """Write a file's bytes to this folder."""
    path = Path(folder) / str(file.pk)
    with path.open("wb") as stream:
        parts = file.parts.order_by("number").values_list("content", flat=True)
        for content in parts.iterator(chunk_size=4):
            stream.write(content)
    return path


def choose_sheet(file: UploadFile, sheet: str) -> None:
    """Switch to another sheet of a workbook, whose columns are recognised anew."""
    project = file.upload.project
    with tempfile.TemporaryDirectory(dir=settings.TEMPORARY_DIR) as folder:
        recognised = recognise_file(
            _written(file, folder),
            file.name,
            known_names(project),
            project.saved_columns.all(),
            sheet,
        )
    file.preview, file.columns = asdict(recognised.preview), dict(recognised.columns)
    file.save(update_fields=["columns", "preview"])


def _as_input(path: Path, file: UploadFile) -> InputFile:
    guess = _guess(file)
    columns = {} if file.preview.get("structure") else file.columns
    sheet = file.preview.get("sheet", "")
    names = [column["name"] for column in file.preview.get("columns", ())] if columns else []
    file_read = input_file(path, file.name, columns, guess if columns else {}, sheet, names=names)
    corrected = {int(line): cells for line, cells in file.corrections.items()}
    emptied = {row["line"]: dict.fromkeys(row.get("columns", ()), "") for row in file.refused}
    lines = [row["line"] for row in file.refused if not row.get("columns")]
    return without(replace(file_read, corrections=corrected), emptied, lines)


def _guess(file: UploadFile) -> dict[str, str]:
    shown = file.preview.get("columns", ())
    guess = {column["name"]: column["guess"] for column in shown if column["guess"]}
    return guess | dict(file.preview.get("further", {}))


def remember(upload: Upload) -> None:
    """Remember the user's choices for an upload's files, for later files like them."""
    for file in upload.files.all():
        changed = changed_columns(file.columns, _guess(file))
        is_usable = not problems_of(file.columns) and not file.preview.get("questions")
        if changed and is_usable and not file.preview.get("structure"):
            names = [column["name"] for column in file.preview["columns"]]
            remember_columns(upload.project, file.name, names, changed)


def problems_with(upload: Upload) -> list[str]:
    """Return why the files cannot be checked yet, in sentences."""
    problems = []
    for file in upload.files.all():
        if file.preview.get("error"):
            problems.append(f"{file.name}: {file.preview['error']}")
        elif not file.preview.get("structure"):
            problems += [f"{file.name}: {problem}" for problem in problems_of(file.columns)]
    return problems


def clear_leftovers(*, older_than: float = LEFTOVER_SECONDS) -> int:
    """Remove files that have not been touched for this long; return how many."""
    folder = settings.TEMPORARY_DIR
    if folder is None:
        return 0
    cleared = 0
    for path in folder.iterdir():
        # Another worker may be removing files at the same time.
        with contextlib.suppress(OSError):
            if time.time() - path.stat().st_mtime > older_than:
                shutil.rmtree(path) if path.is_dir() else path.unlink()
                cleared += 1
    return cleared


@dataclass
class LoadProgress:
    """A callback for the steps of a load, and what stops its progress from being written: from
    then on the work itself changes the row."""

    stop: Callable[[], None] = lambda: None
    step: str = ""

    def __call__(self, step: str) -> None:
        self.step = step


@contextmanager
def writing_load(upload: Upload, counter: Counter) -> Iterator[LoadProgress]:
    """Keep the step and the bytes read in an upload's row up to date while it is processed."""
    progress = LoadProgress()

    def write() -> None:
        Upload.objects.filter(pk=upload.pk).update(
            step=progress.step, bytes_read=counter.count, beat_at=timezone.now()
        )

    with writing_progress(write, seconds=PROGRESS_SECONDS) as progress.stop:
        yield progress
