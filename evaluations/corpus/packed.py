"""Files as they come, plain, gzip or zip, with a limit on what they unpack to."""

import gzip
import io
import zipfile
from pathlib import Path
from typing import IO, Any

from django.conf import settings

ZIP, GZIP = b"PK\x03\x04", b"\x1f\x8b"


class PackedError(ValueError):
    """A packed file that cannot be taken; the message says why and what to do."""


class LimitedStream(io.RawIOBase):
    """What is read of a packed file, until it is more than the site allows: a few kilobytes can hold gigabytes."""

    def __init__(self, stream: Any, most: int) -> None:
        self.stream = stream
        self.most = most
        self.read_so_far = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self.stream.read(len(buffer))
        self.read_so_far += len(data)
        if self.read_so_far > self.most:
            raise PackedError(
                f"unpacks to more than {self.most // 2**20:,} MB, which is the limit (GEVAL_UNPACKED_LIMIT_MB); "
                "split it"
            )
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self.stream.close()
        super().close()


def open_packed(path: Path) -> IO[bytes]:
    """The bytes of a file, unpacked.

    Raises:
        PackedError: a zip with no file, or with several; the limit is passed (while reading).
    """
    with path.open("rb") as raw:
        head = raw.read(4)
    if head[:2] == GZIP:
        return _limited(gzip.open(path, "rb"))
    if head == ZIP:
        return _limited(_only_file(path))
    return path.open("rb")


def _only_file(path: Path) -> Any:
    archive = zipfile.ZipFile(path)
    inside = [info for info in archive.infolist() if not info.is_dir() and not info.filename.startswith("__MACOSX/")]
    if len(inside) != 1:
        names = ", ".join(info.filename for info in inside[:5]) or "none"
        raise PackedError(f"a zip with {len(inside)} files ({names}); pack one file, or upload them by themselves")
    if inside[0].flag_bits & 1:
        raise PackedError("the zip is encrypted; pack it without a password")
    return archive.open(inside[0])


def _limited(stream: Any) -> IO[bytes]:
    return io.BufferedReader(LimitedStream(stream, settings.UNPACKED_LIMIT_BYTES), 2**16)
