"""Remove temporary files of uploads that a killed process left behind."""

import contextlib
import shutil
import time

from django.conf import settings

KEPT_SECONDS = 24 * 3600


def clear_leftovers(*, older_than: float = KEPT_SECONDS) -> int:
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
