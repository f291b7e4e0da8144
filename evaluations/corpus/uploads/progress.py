"""Report an upload's progress on a separate connection, because the work is one long
transaction."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection, connections
from django.utils import timezone

from evaluations.models import Upload
from geval.files.packed import Counter

# Far below `SILENT_SECONDS`, after which the worker counts as dead.
EVERY_SECONDS = 0.5


class ProgressWriter:
    """A callback for the steps of a load; a thread writes the step and the bytes read to the
    upload's row."""

    def __init__(self, upload: Upload, counter: Counter) -> None:
        self.upload = upload
        self.counter = counter
        self.step = ""
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._write, daemon=True)

    def __call__(self, step: str) -> None:
        self.step = step

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        """Stop writing: from now on the work itself changes the row."""
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join()

    def _write(self) -> None:
        try:
            while not self._ended.wait(EVERY_SECONDS):
                Upload.objects.filter(pk=self.upload.pk).update(
                    step=self.step, bytes_read=self.counter.count, beat_at=timezone.now()
                )
        finally:
            connections.close_all()


@contextmanager
def writing_progress(upload: Upload, counter: Counter) -> Iterator[ProgressWriter]:
    """Keep an upload's row up to date while it is processed.

    Inside an outer transaction nothing is written: the row would be invisible to others, and the
    second connection would wait for the first.
    """
    writer = ProgressWriter(upload, counter)
    if not connection.in_atomic_block:
        writer.start()
    try:
        yield writer
    finally:
        writer.close()
