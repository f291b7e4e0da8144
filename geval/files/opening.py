"""Open plain, gzip and zip files; a zip contains one file, or a known bundle of several, or is a
workbook."""

import gzip
import io
import zipfile
from pathlib import Path
from typing import IO, Any

from geval.files.bundles import bundle_lines, needs_arrow, usable_members
from geval.files.packed import (
    GZIP,
    UNREADABLE,
    ZIP,
    CountedFile,
    Counter,
    LimitedStream,
    PackedError,
)
from geval.files.parquet import is_arrow, is_parquet
from geval.files.sheets import is_workbook


def open_packed(path: Path, counter: Counter | None = None) -> IO[bytes]:
    """Open a file and unpack it; a bundle is read as JSON Lines, a workbook stays a zip.

    Raises:
        PackedError: a zip has no file or several, or the limit is exceeded (while reading).
    """
    with path.open("rb") as raw:
        head = raw.read(4)
    raw = io.BufferedReader(CountedFile(path, counter or Counter()), 2**16)
    if head[:2] == GZIP:
        return _limited(gzip.GzipFile(fileobj=raw), raw)
    if head == ZIP:
        archive = zipfile.ZipFile(raw)
        if is_workbook(archive):
            raw.seek(0)
            return raw
        return _limited(_unzipped(archive), raw)
    return raw


def opens_with_arrow(path: Path) -> bool:
    """Return whether reading a file needs Arrow."""
    try:
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                if needs_arrow(archive):
                    return True
        with open_packed(path) as raw:
            return is_parquet(raw) or is_arrow(raw)
    except UNREADABLE:
        return False


def _unzipped(archive: zipfile.ZipFile) -> Any:
    inside = usable_members(archive)
    if any(info.flag_bits & 1 for info in inside):
        raise PackedError("the zip is encrypted; create it without a password")
    if (lines := bundle_lines(archive)) is not None:
        return _Lines(lines)
    if len(inside) != 1:
        names = ", ".join(info.filename for info in inside[:5]) or "none"
        raise PackedError(
            f"a zip with {len(inside)} files ({names}); put one file into the zip, or upload the "
            "files separately"
        )
    return archive.open(inside[0])


class _Lines:
    """Lines as a stream of bytes."""

    def __init__(self, lines: Any) -> None:
        self.lines = lines
        self.line = memoryview(b"")

    def read(self, most: int) -> bytes:
        if not self.line:
            self.line = memoryview(next(self.lines, b""))
        part, self.line = self.line[:most], self.line[most:]  # views: a line may be very long
        return bytes(part)

    def close(self) -> None:
        self.lines.close()


def _limited(stream: Any, raw: IO[bytes]) -> IO[bytes]:
    return io.BufferedReader(LimitedStream(stream, raw), 2**16)
