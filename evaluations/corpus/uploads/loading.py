"""Check and load uploads in one transaction each: small ones at once, others by a worker."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import structlog
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from evaluations.corpus.store import load_files, load_rest
from evaluations.corpus.uploads.keeping import (
    choose_sheet,
    files_of,
    problems_with,
    remember,
    writing_load,
)
from evaluations.models import Upload, UploadPart, UploadState
from evaluations.models.row_by_row import FULL, is_disk_full
from evaluations.models.uploads import MOST_ATTEMPTS
from evaluations.people.waking import wake_for_upload
from geval.files.cells import on_criterion
from geval.files.packed import Counter
from geval.files.recognised import answered, is_settled
from geval.files.refused import RefusedRow, with_cells
from geval.files.rows import Columns, LoadError, LoadOptions

# Smaller uploads are checked and loaded while the browser waits, without a worker.
AT_ONCE_BYTES = 2**20
# Errors stay in memory, and are stored with the upload; they often share a cause.
MOST_ERRORS = 10_000
AT_REST = (UploadState.CHOSEN, UploadState.CHECKED, UploadState.INVALID)
FAILED = "Unexpected error: {}. Try again; if that does not help, contact the site's administrator."
PARKED = (
    f"The worker stopped {MOST_ATTEMPTS} times while it processed this upload, perhaps because it "
    "ran out of memory. Split the files, or try again."
)
log = structlog.stdlib.get_logger(__name__)
NOTHING: dict[str, Any] = {"result": None, "errors": [], "error_count": 0, "contents": None}
# Errors whose cells can be corrected on the page.
WITH_CELLS = 100


# By criterion: the lowest point, the highest, and the step between points.
Scales = Mapping[str, tuple[float, float, float]]


class NotReadyError(Exception):
    """The next step of an upload is not possible; the message says why."""


@transaction.atomic
def set_columns(upload: Upload, columns: Mapping[int, Columns], about: dict[str, Any]) -> None:
    """Store the user's column choices for an upload's files; it must then be checked again.

    Args:
        columns: choices by file id.

    Raises:
        NotReadyError: the upload is being processed, or is loaded.
    """
    _start_again(upload)
    scales = upload.about.get("scales", {})
    Upload.objects.filter(pk=upload.pk).update(about=about | {"scales": scales})
    for file in upload.files.filter(pk__in=columns):
        choices = dict(columns[file.pk])
        file.preview["questions"] = [
            question
            for question in file.preview.get("questions", ())
            if not is_settled([choice["columns"] for choice in question["choices"]], choices)
            and all(
                choices.get(name, "") == file.columns.get(name, "")
                for choice in question["choices"]
                for name in choice["columns"]
            )
        ]
        file.columns = choices
        file.save(update_fields=["columns", "preview"])
    remember(upload)


@transaction.atomic
def answer_question(
    upload: Upload, file_id: int, question: int, choice: int, criterion: str = ""
) -> None:
    """Store an answer to a question about a file's columns; ignored if the question was already
    answered.

    Args:
        criterion: answers a question for a criterion by name, instead of a choice.

    Raises:
        NotReadyError: the upload is being processed, or is loaded.
    """
    _start_again(upload)
    file = upload.files.filter(pk=file_id).first()
    questions = file.preview.get("questions", []) if file else []
    if file is None or question >= len(questions) or choice >= len(questions[question]["choices"]):
        return
    if criterion and not questions[question].get("names_criterion"):
        return
    chosen = questions.pop(question)["choices"][choice]
    if chosen.get("sheet"):
        choose_sheet(file, chosen["sheet"])
        return
    columns = on_criterion(chosen["columns"], criterion) if criterion else chosen["columns"]
    file.columns = answered(file.columns, columns)
    file.save(update_fields=["columns", "preview"])
    remember(upload)


@transaction.atomic
def set_scales(upload: Upload, scales: Scales) -> None:
    """Store the confirmed scales of new criteria, which apply when the files are loaded."""
    upload.about = upload.about | {"scales": {**upload.about.get("scales", {}), **scales}}
    Upload.objects.filter(pk=upload.pk, state__in=AT_REST).update(about=upload.about)


@transaction.atomic
def correct_cells(upload: Upload, cells: Mapping[int, str]) -> None:
    """Replace the cells of some listed errors, by the number of the error.

    Raises:
        NotReadyError: the upload is being processed, or is loaded.
    """
    files = {file.name: file for file in upload.files.all()}
    for number, text in cells.items():
        error = upload.errors[number] if number < len(upload.errors) else {}
        file = files.get(error.get("file", ""))
        if file is not None and error.get("value") not in (None, text):
            file.corrections.setdefault(str(error["line"]), {})[error["column"]] = text
            file.save(update_fields=["corrections"])
    _start_again(upload)


@transaction.atomic
def leave_out_errors(upload: Upload) -> None:
    """Skip cells and rows with errors from now on, keeping them in a separate list.

    Raises:
        NotReadyError: the upload is being processed, or is loaded.
    """
    _start_again(upload)
    Upload.objects.filter(pk=upload.pk).update(leaves_out_errors=True)


def _start_again(upload: Upload) -> None:
    changed = Upload.objects.filter(pk=upload.pk, state__in=AT_REST).update(
        state=UploadState.CHOSEN, message="", **NOTHING
    )
    _refuse_unless(changed, upload)
    upload.files.update(refused=[])


def start_check(upload: Upload, *, call_worker: Callable[[int], None] = wake_for_upload) -> None:
    """Start a dry run. Problems with columns are reported at once, without reading rows; while a
    question is open, nothing starts.

    Args:
        call_worker: sends the id of an upload that is too large to wait for to a worker.

    Raises:
        NotReadyError: the upload is being processed, or is loaded.
    """
    if upload.is_asking:
        changed = Upload.objects.filter(pk=upload.pk, state__in=AT_REST).update(
            state=UploadState.CHOSEN, message="", attempts=0, **NOTHING
        )
        _refuse_unless(changed, upload)
        return
    problems = problems_with(upload)
    if problems:
        changed = Upload.objects.filter(pk=upload.pk, state__in=AT_REST).update(
            state=UploadState.INVALID, message=" ".join(problems)[:500], attempts=0, **NOTHING
        )
        _refuse_unless(changed, upload)
        return
    _start(upload, UploadState.CHECKING, among=AT_REST, call=call_worker)


def start_load(upload: Upload, *, call_worker: Callable[[int], None] = wake_for_upload) -> None:
    """Load a checked upload.

    Raises:
        NotReadyError: the upload was not checked, or is already loaded.
    """
    _start(upload, UploadState.LOADING, among=[UploadState.CHECKED], call=call_worker)


def _refuse_unless(changed: int, upload: Upload) -> None:
    if not changed:
        upload.refresh_from_db()
        raise NotReadyError(f"This upload is {upload.get_state_display().lower()}; check it again.")


def _start(
    upload: Upload, state: UploadState, *, among: Sequence[UploadState], call: Callable[[int], None]
) -> None:
    changed = Upload.objects.filter(pk=upload.pk, state__in=among).update(
        state=state, step="", bytes_read=0, beat_at=None, message="", attempts=0
    )
    _refuse_unless(changed, upload)
    unpacks_large = any(file.preview.get("is_large") for file in upload.files.all())
    if upload.size <= AT_ONCE_BYTES and not unpacks_large:
        try:
            work_on_upload(upload.pk)
        except Exception:
            log.exception("upload failed", upload=upload.pk, project=upload.project.slug)
    else:
        transaction.on_commit(lambda: call(upload.pk))


def work_on_upload(upload_id: int) -> None:
    """Check or load an upload, depending on its state; do nothing if another worker is processing
    it."""
    upload = _claim(upload_id)
    if upload is None:
        return
    try:
        if upload.state == UploadState.CHECKING:
            _check(upload)
        else:
            _load(upload)
    except LoadError as error:
        errors = [asdict(row_error) for row_error in error.errors]
        _finish(
            upload,
            UploadState.INVALID,
            result=None,
            errors=errors,
            error_count=error.total,
            contents=asdict(error.contents) if error.contents else None,
        )
        log.warning(
            "upload failed",
            upload=upload.pk,
            project=upload.project.slug,
            reason="errors in the files",
            errors=error.total,
        )
    except Exception as error:
        # The waiting user must see that it ended; the log has the details.
        message = FULL if is_disk_full(error) else FAILED.format(type(error).__name__)
        _finish(upload, UploadState.INVALID, message=message)
        raise


def neglected_uploads() -> list[int]:
    """Return the ids of uploads that need a worker; those that were tried too often are ended."""
    _park_exhausted()
    return list(Upload.objects.neglected().values_list("pk", flat=True))


def _park_exhausted() -> None:
    Upload.objects.exhausted().update(
        state=UploadState.INVALID, step="", beat_at=None, message=PARKED, **NOTHING
    )


def _claim(upload_id: int) -> Upload | None:
    _park_exhausted()
    waiting = Upload.objects.neglected().filter(pk=upload_id)
    if not waiting.update(beat_at=timezone.now(), attempts=F("attempts") + 1):
        return None
    return Upload.objects.select_related("project").get(pk=upload_id)


def _check(upload: Upload) -> None:
    counter = Counter()
    with writing_load(upload, counter) as watch, files_of(upload, counter) as files:
        try:
            loaded = load_rest(
                upload.project,
                files,
                about=LoadOptions(**upload.about),
                dry_run=True,
                leave_out=upload.leaves_out_errors,
                most_errors=MOST_ERRORS,
                watch=watch,
            )
        except LoadError as error:
            error.errors = with_cells(files, error.errors, most=WITH_CELLS)
            raise
    _keep_refused(upload, loaded.refused)
    result = asdict(loaded.result)
    contents = result.pop("contents")
    _finish(upload, UploadState.CHECKED, result=result, errors=[], error_count=0, contents=contents)


def _keep_refused(upload: Upload, refused: Sequence[RefusedRow]) -> None:
    for file in upload.files.all():
        file.refused = [
            {
                "line": row.line,
                "cells": row.cells,
                "reasons": row.reasons,
                "columns": row.columns,
            }
            for row in refused
            if row.file == file.name
        ]
        file.save(update_fields=["refused"])


def _load(upload: Upload) -> None:
    """Load the files, store the result and remove their parts in one transaction."""
    counter = Counter()
    with (
        writing_load(upload, counter) as watch,
        files_of(upload, counter) as files,
        transaction.atomic(),
    ):
        result = load_files(
            upload.project,
            files,
            about=LoadOptions(**upload.about),
            most_errors=MOST_ERRORS,
            watch=watch,
        )
        watch.stop()
        UploadPart.objects.filter(file__upload=upload).delete()
        _finish(upload, UploadState.DONE, result=asdict(result), errors=[], error_count=0)


def _finish(upload: Upload, state: UploadState, **fields: Any) -> None:
    """Finish an upload, unless another worker took it over and finished it."""
    Upload.objects.filter(pk=upload.pk, state=upload.state).update(
        state=state, step="", beat_at=None, **fields
    )
