"""Checking and loading an upload: small ones at once, others by a worker; each in one transaction,
all or nothing."""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from evaluations.corpus.mapping import Columns
from evaluations.corpus.packed import Counter
from evaluations.corpus.rows import About, LoadError
from evaluations.corpus.store import load_files
from evaluations.models import Upload, UploadPart, UploadState
from evaluations.models.uploads import MOST_ATTEMPTS
from evaluations.uploads.keeping import files_of, problems_with
from evaluations.uploads.progress import telling
from evaluations.waking import wake_for_upload
from geval_site.disk import FULL, is_disk_full

# Smaller ones are checked and loaded while the browser waits, which needs no worker.
AT_ONCE_BYTES = 2**20
MOST_FAULTS = 10_000
AT_REST = (UploadState.CHOSEN, UploadState.CHECKED, UploadState.FAULTY)
FAILED = (
    "It failed unexpectedly: {}. Try again; if that does not help, tell the site's administrator."
)
PARKED = (
    f"The worker ended {MOST_ATTEMPTS} times while it worked on this, perhaps out of memory. "
    "Split the files, or try again."
)
log = logging.getLogger(__name__)
NOTHING: dict[str, Any] = {"result": None, "faults": [], "fault_count": 0}


class NotReadyError(Exception):
    """An upload cannot go on; says why."""


@transaction.atomic
def say_columns(upload: Upload, columns: Mapping[int, Columns], about: dict[str, Any]) -> None:
    """Keep what somebody says of an upload's files; it has to be checked (again) then.

    Args:
        columns: by the id of the file.

    Raises:
        NotReadyError: it is being worked on, or is loaded.
    """
    changed = Upload.objects.filter(pk=upload.pk, state__in=AT_REST).update(
        state=UploadState.CHOSEN, about=about, message="", **NOTHING
    )
    _refuse_unless(changed, upload)
    for file_id, chosen in columns.items():
        upload.files.filter(pk=file_id).update(columns=dict(chosen))


def start_check(upload: Upload, *, call_worker: Callable[[int], None] = wake_for_upload) -> None:
    """See what loading would do. Problems with columns are said at once; nothing is read then.

    Args:
        call_worker: sends a worker the id of an upload that is too large to be waited for.

    Raises:
        NotReadyError: it is being worked on, or is loaded.
    """
    problems = problems_with(upload)
    if problems:
        changed = Upload.objects.filter(pk=upload.pk, state__in=AT_REST).update(
            state=UploadState.FAULTY, message=" ".join(problems)[:500], attempts=0, **NOTHING
        )
        _refuse_unless(changed, upload)
        return
    _start(upload, UploadState.CHECKING, among=AT_REST, call=call_worker)


def start_load(upload: Upload, *, call_worker: Callable[[int], None] = wake_for_upload) -> None:
    """Load what was checked.

    Raises:
        NotReadyError: it was not checked, or is loaded already.
    """
    _start(upload, UploadState.LOADING, among=[UploadState.CHECKED], call=call_worker)


def _refuse_unless(changed: int, upload: Upload) -> None:
    if not changed:
        upload.refresh_from_db()
        raise NotReadyError(
            f"This upload is {upload.get_state_display().lower()}; look at it again."
        )


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
            log.exception("Upload %s failed while somebody waited; its page says so", upload.pk)
    else:
        transaction.on_commit(lambda: call(upload.pk))


def work_on_upload(upload_id: int) -> None:
    """Check or load an upload, as its state says; nothing if somebody else is at it."""
    upload = _claim(upload_id)
    if upload is None:
        return
    try:
        if upload.state == UploadState.CHECKING:
            _check(upload)
        else:
            _load(upload)
    except LoadError as error:
        faults = [asdict(fault) for fault in error.faults]
        _finish(upload, UploadState.FAULTY, result=None, faults=faults, fault_count=error.total)
    except Exception as error:
        # Whoever waits for it has to learn that it ended; the log has the rest.
        said = FULL if is_disk_full(error) else FAILED.format(type(error).__name__)
        _finish(upload, UploadState.FAULTY, message=said)
        raise


def neglected_uploads() -> list[int]:
    """The ids of uploads that a worker should be called for; those that were tried too often are
    put aside."""
    _park_exhausted()
    return list(Upload.objects.neglected().values_list("pk", flat=True))


def _park_exhausted() -> None:
    Upload.objects.exhausted().update(
        state=UploadState.FAULTY, step="", beat_at=None, message=PARKED, **NOTHING
    )


def _claim(upload_id: int) -> Upload | None:
    _park_exhausted()
    waiting = Upload.objects.neglected().filter(pk=upload_id)
    if not waiting.update(beat_at=timezone.now(), attempts=F("attempts") + 1):
        return None
    return Upload.objects.select_related("project").get(pk=upload_id)


def _check(upload: Upload) -> None:
    counter = Counter()
    with telling(upload, counter) as watch, files_of(upload, counter) as files:
        result = load_files(
            upload.project,
            files,
            about=About(**upload.about),
            rehearse=True,
            most_faults=MOST_FAULTS,
            watch=watch,
        )
    _finish(upload, UploadState.CHECKED, result=asdict(result), faults=[], fault_count=0)


def _load(upload: Upload) -> None:
    """Load the files and say so in one transaction; what was kept of them goes."""
    counter = Counter()
    with (
        telling(upload, counter) as watch,
        files_of(upload, counter) as files,
        transaction.atomic(),
    ):
        result = load_files(
            upload.project, files, about=About(**upload.about), most_faults=MOST_FAULTS, watch=watch
        )
        watch.close()
        UploadPart.objects.filter(file__upload=upload).delete()
        _finish(upload, UploadState.DONE, result=asdict(result))


def _finish(upload: Upload, state: UploadState, **fields: Any) -> None:
    """End work on an upload, unless another worker, who took this one for dead, has ended it
    already."""
    Upload.objects.filter(pk=upload.pk, state=upload.state).update(
        state=state, step="", beat_at=None, **fields
    )
