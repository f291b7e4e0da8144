"""Refuse a zip that would take too much memory or disk, before it is unpacked."""

import os
import re
import zipfile
from contextlib import nullcontext
from pathlib import Path
from typing import IO

from geval.files.archive.record_file import ArchiveError

# The end of a zip's directory, which a comment may follow, and how large our directories can be.
_END_OF_ZIP = re.compile(re.escape(b"PK\5\6"))
# A ZIP64 record comes before the end record, which then has no valid numbers.
_END_OF_ZIP64 = re.compile(re.escape(b"PK\6\7"))
RECORD_OF_ZIP64, RECORD_BYTES = b"PK\6\6", 56
# A zip ends with a record of 22 bytes and a comment of up to 65,535, in which to search for it.
END_BYTES = 2**16 + 22
# The names of about twenty files take some kilobytes.
DIRECTORY_BYTES = 2**16


def check_directory(source: Path | IO[bytes]) -> None:
    """Refuse a zip whose directory is too large: each of its names would take a kilobyte of memory.

    Raises:
        ArchiveError: it has thousands of names.
    """
    with source.open("rb") if isinstance(source, Path) else nullcontext(source) as file:
        size = file.seek(0, os.SEEK_END)
        begin = file.seek(max(0, size - END_BYTES))
        end = file.read()
        # Whichever of several end records a reader takes.
        sizes = [end[mark.start() + 12 :][:4] for mark in _END_OF_ZIP.finditer(end)]
        for mark in _END_OF_ZIP64.finditer(end):
            named = int.from_bytes(end[mark.start() + 8 :][:8], "little")
            # Where the ZIP64 locator says that the record is, and where Python looks for it.
            for offset in (named, begin + mark.start() - RECORD_BYTES):
                if 0 <= offset < size:
                    file.seek(offset)
                    record = file.read(RECORD_BYTES)
                    sizes += [record[40:48]] if record.startswith(RECORD_OF_ZIP64) else []
        file.seek(0)
    if any(int.from_bytes(directory, "little") > DIRECTORY_BYTES for directory in sizes):
        raise ArchiveError("This zip has thousands of files; a project's archive has about twenty.")


def check_members(archive: zipfile.ZipFile, *, most_bytes: int) -> None:
    """Refuse an archive whose compression cannot be unpacked in parts, or that would unpack to more
    than `most_bytes`.

    Raises:
        ArchiveError: it cannot be unpacked in parts, or is too large.
    """
    for info in archive.infolist():
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise ArchiveError(
                f"{info.filename[:80]!r} is packed by a method that this site does not unpack. Zip"
                " the files again with “deflate”, which every program offers."
            )
    size = sum(info.file_size for info in archive.infolist())
    if size > most_bytes:
        raise ArchiveError(
            f"The archive unpacks to {size // 2**20:,} MB; this site accepts"
            f" {most_bytes // 2**20:,} MB (GEVAL_ARCHIVE_LIMIT_MB)."
        )
