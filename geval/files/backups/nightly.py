"""Backups that a timer makes into a folder, where they are named by their time and kept for some
days."""

import contextlib
import datetime
import re
import stat
from pathlib import Path

# Also what earlier versions and a cron job of the docs made, and drafts that killed backups left;
# never one that somebody made under another name.
_OURS = re.compile(r"20\d\d-\d\d-\d\d(-\d{4})?\.backup(\.part)?")


def nightly_file(folder: Path, now: datetime.datetime) -> Path:
    """Where the backup of a moment goes."""
    return folder / f"{now:%Y-%m-%d-%H%M}.backup"


def remove_old(folder: Path, *, days: int, now: datetime.datetime) -> list[Path]:
    """Remove the timer's backups that were written more than so many days ago.

    Returns:
        Those that it removed, by name.
    """
    before = (now - datetime.timedelta(days=days)).timestamp()
    removed = []
    for path in sorted(folder.iterdir()):
        if not _OURS.fullmatch(path.name):
            continue
        # Another backup may remove it, or finish a draft under its own name, at the same moment.
        with contextlib.suppress(FileNotFoundError):
            status = path.lstat()
            if stat.S_ISREG(status.st_mode) and status.st_mtime < before:
                path.unlink()
                removed.append(path)
    return removed
