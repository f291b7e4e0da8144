"""Scheduled backups in a folder, named by their time and kept for some days."""

import contextlib
import datetime
import re
import stat
from pathlib import Path

# Includes backups by earlier versions and by a cron job of the docs, and drafts left by killed
# backups; never a backup that a user made under another name.
_OURS = re.compile(r"20\d\d-\d\d-\d\d(-\d{4})?\.backup(\.part)?")


def nightly_file(folder: Path, now: datetime.datetime) -> Path:
    """Return the path of a backup made at this time."""
    return folder / f"{now:%Y-%m-%d-%H%M}.backup"


def remove_old(folder: Path, *, days: int, now: datetime.datetime) -> list[Path]:
    """Remove scheduled backups that were written more than `days` ago.

    Returns:
        The names of the removed backups.
    """
    before = (now - datetime.timedelta(days=days)).timestamp()
    removed = []
    for path in sorted(folder.iterdir()):
        if not _OURS.fullmatch(path.name):
            continue
        # Another backup process may remove it, or rename its draft, at the same time.
        with contextlib.suppress(FileNotFoundError):
            status = path.lstat()
            if stat.S_ISREG(status.st_mode) and status.st_mtime < before:
                path.unlink()
                removed.append(path)
    return removed
