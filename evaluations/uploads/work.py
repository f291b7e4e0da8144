"""Checking and loading an upload: small ones at once, others by a worker; each in one transaction, all or nothing."""

import datetime
from collections.abc import Callable
from dataclasses import asdict, dataclass

from django.db import models, transaction
from django.utils import timezone

from evaluations.corpus.packed import Counter
from evaluations.corpus.rows import About, LoadError
from evaluations.corpus.store import load_files
from evaluations.models import Upload, UploadPart, UploadState
from evaluations.models.uploads import SILENT_SECONDS
from evaluations.uploads.keeping import files_of, problems_with
from evaluations.uploads.progress import telling

# Smaller ones are checked and loaded while the browser waits, which needs no worker.
AT_ONCE_BYTES = 2**20
MOST_FAULTS = 10_000
ACTIVE = (UploadState.CHECKING, UploadState.LOADING)


@dataclass(frozen=True)
class NotReadyError(Exception):
    """An upload cannot go on; says why."""

    reason: str

    def __str__(self) -> str:
        return self.reason


def start_check(upload: Upload, *, call_worker: Callable[[int], None]) -> None:
    """See what loading would do. Problems with columns are said at once; nothing is read then."""
    problems = problems_with(upload)
    if problems:
        _finish(upload, UploadState.FAULTY, message=" ".join(problems)[:500], **NOTHING)
        return
    _start(
        upload, UploadState.CHECKING, among=[state for state in UploadState if state not in ACTIVE], call=call_worker
    )


def start_load(upload: Upload, *, call_worker: Callable[[int], None]) -> None:
    """Load what was checked.

    Raises:
        NotReadyError: it was not checked, or is loaded already.
    """
    _start(upload, UploadState.LOADING, among=[UploadState.CHECKED], call=call_worker)


def try_again(upload: Upload, *, call_worker: Callable[[int], None]) -> None:
    """Call a worker once more for an upload whose worker fell silent."""
    call_worker(upload.pk)


NOTHING: dict[str, object] = {"result": None, "faults": [], "fault_count": 0}


def _start(upload: Upload, state: UploadState, *, among: list[UploadState], call: Callable[[int], None]) -> None:
    changed = Upload.objects.filter(pk=upload.pk, state__in=among).update(
        state=state, step="", bytes_read=0, beat_at=None, message=""
    )
    if not changed:
        upload.refresh_from_db()
        raise NotReadyError(f"This upload is {upload.get_state_display().lower()}; look at it again.")
    if upload.size <= AT_ONCE_BYTES:
        work_on_upload(upload.pk)
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
        _finish(upload, UploadState.FAULTY, message=f"It failed unexpectedly: {type(error).__name__}. Try again.")
        raise


def neglected_uploads() -> list[int]:
    """Uploads with something to do that nobody does, as far as can be told."""
    silent = timezone.now() - datetime.timedelta(seconds=SILENT_SECONDS)
    waiting = Upload.objects.filter(models.Q(beat_at=None) | models.Q(beat_at__lt=silent), state__in=ACTIVE)
    return list(waiting.values_list("pk", flat=True))


def _claim(upload_id: int) -> Upload | None:
    silent = timezone.now() - datetime.timedelta(seconds=SILENT_SECONDS)
    free = Upload.objects.filter(models.Q(beat_at=None) | models.Q(beat_at__lt=silent), pk=upload_id, state__in=ACTIVE)
    if not free.update(beat_at=timezone.now()):
        return None
    return Upload.objects.select_related("project").get(pk=upload_id)


def _check(upload: Upload) -> None:
    counter = Counter()
    with telling(upload, counter) as watch, files_of(upload, counter) as files:
        result = load_files(
            upload.project, files, about=About(**upload.about), rehearse=True, most_faults=MOST_FAULTS, watch=watch
        )
    _finish(upload, UploadState.CHECKED, result=asdict(result), faults=[], fault_count=0)


def _load(upload: Upload) -> None:
    """Load the files and say so in one transaction; what was kept of them goes."""
    counter = Counter()
    with telling(upload, counter) as watch, files_of(upload, counter) as files, transaction.atomic():
        result = load_files(upload.project, files, about=About(**upload.about), most_faults=MOST_FAULTS, watch=watch)
        watch.close()
        UploadPart.objects.filter(file__upload=upload).delete()
        _finish(upload, UploadState.DONE, result=asdict(result))


def _finish(upload: Upload, state: UploadState, **fields: object) -> None:
    Upload.objects.filter(pk=upload.pk).update(state=state, step="", beat_at=None, **fields)
    upload.refresh_from_db()
