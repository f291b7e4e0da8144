"""Store uploaded files in the database until they are loaded, readable by every worker."""

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction

from evaluations.corpus.apart import preview_apart
from evaluations.corpus.mapping import Columns, is_native, problems_of
from evaluations.corpus.packed import Counter
from evaluations.corpus.preview import Preview
from evaluations.corpus.readers import InputFile
from evaluations.models import Project, SavedColumns, Upload, UploadFile, UploadPart
from evaluations.texts import storable

PART_BYTES = 2**20


@dataclass(frozen=True)
class ChosenFile:
    """An uploaded file, and the path where it is now."""

    path: Path
    name: str


@transaction.atomic
def keep_upload(
    project: Project, user_id: int | None, files: Sequence[ChosenFile], about: dict[str, Any]
) -> Upload:
    """Store files with their previews; remove forgotten uploads."""
    Upload.objects.filter(project=project).forgotten().delete()
    upload = Upload.objects.create(project=project, made_by_id=user_id, about=about)
    saved = list(project.saved_columns.all())
    for chosen in files:
        preview = preview_apart(chosen.path, chosen.name)
        file = UploadFile.objects.create(
            upload=upload,
            name=storable(chosen.name)[:200],
            size=chosen.path.stat().st_size,
            preview=asdict(preview),
            columns=_columns_for(preview, saved),
        )
        _keep_parts(file, chosen.path)
    return upload


def _columns_for(preview: Preview, saved: Iterable[SavedColumns]) -> Columns:
    """The columns that were saved for a file like this one, or a guess."""
    names = sorted(column.name for column in preview.columns)
    like = next((one for one in saved if one.file_columns == names), None)
    return like.columns if like else preview.guess


def _keep_parts(file: UploadFile, path: Path) -> None:
    with path.open("rb") as stream:
        number = 0
        while content := stream.read(PART_BYTES):
            UploadPart.objects.create(file=file, number=number, content=content)
            number += 1


@contextmanager
def files_of(upload: Upload, counter: Counter | None = None) -> Iterator[list[InputFile]]:
    """The files of an upload in a temporary folder, with the meaning of their columns."""
    with tempfile.TemporaryDirectory(dir=settings.TEMPORARY_DIR) as folder:
        inputs = []
        for file in upload.files.all():
            path = Path(folder) / str(file.pk)
            with path.open("wb") as stream:
                for content in (
                    file.parts.order_by("number")
                    .values_list("content", flat=True)
                    .iterator(chunk_size=4)
                ):
                    stream.write(content)
            inputs.append(InputFile(path, file.name, columns_to_use(file), counter))
        yield inputs


def columns_to_use(file: UploadFile) -> Columns:
    """The columns to pass to readers: none if they recognize them, or if records are nested.

    Columns that the user left out but readers would use have to be passed as well.
    """
    guess = {
        column["name"]: column["guess"]
        for column in file.preview.get("columns", ())
        if column["guess"]
    }
    if file.preview.get("structure") or (file.columns == guess and is_native(file.columns)):
        return {}
    return dict(file.columns)


def problems_with(upload: Upload) -> list[str]:
    """Why the files cannot be checked yet, in sentences."""
    said = []
    for file in upload.files.all():
        if file.preview.get("error"):
            said.append(f"{file.name}: {file.preview['error']}")
        elif not file.preview.get("structure"):
            said += [f"{file.name}: {problem}" for problem in problems_of(file.columns)]
    return said
