"""Limits on the unpacked size of plain, gzip and zip files, their errors, and names of files."""

import gzip
import io
import lzma
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from geval.files.limits import file_limits
from geval.texts.spelling import storable

ZIP, GZIP = b"PK\x03\x04", b"\x1f\x8b"
# The database stores 200 characters: this leaves room for a number in brackets.
LONGEST_NAME = 190


class PackedError(ValueError):
    """A compressed file cannot be read; the message says why and what to do."""


UNREADABLE = (
    zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, struct.error,
    lzma.LZMAError, OSError, ValueError,
)  # fmt: skip


def reason_unreadable(error: Exception) -> str:
    """Explain one of the errors in UNREADABLE to the person who uploads."""
    if isinstance(error, PackedError):
        return str(error)
    if isinstance(error, OSError) and not isinstance(error, gzip.BadGzipFile):
        return f"cannot be read: {error.strerror or error}"
    return f"the compressed data is damaged ({error}); compress the file again"


def check_unpacked(size: int) -> None:
    """Refuse a file that unpacks to more than the site allows.

    Raises:
        PackedError: the file unpacks to too many bytes.
    """
    most = file_limits().unpacked_bytes
    if size > most:
        raise PackedError(
            f"unpacks to more than {most // 2**20:,} MB, which is the limit"
            " (GEVAL_UNPACKED_LIMIT_MB); split it"
        )


@contextmanager
def unpacked_file(stream: IO[bytes]) -> Iterator[IO[bytes]]:
    """Copy a stream to a temporary file, for formats that are not read sequentially.

    Raises:
        PackedError: the stream has too many bytes.
    """
    written = 0
    with tempfile.NamedTemporaryFile() as file:
        while chunk := stream.read(2**20):
            written += len(chunk)
            check_unpacked(written)
            file.write(chunk)
        file.flush()
        file.seek(0)
        yield file


class LimitedStream(io.RawIOBase):
    """Unpacked bytes, up to the site's limit: a few kilobytes can unpack to gigabytes."""

    def __init__(self, stream: Any, raw: IO[bytes]) -> None:
        self.stream = stream
        self.raw = raw
        self.read_so_far = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self.stream.read(len(buffer))
        self.read_so_far += len(data)
        check_unpacked(self.read_so_far)
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self.stream.close()
        self.raw.close()
        super().close()


class Counter:
    """How many bytes of some files have been read, before unpacking."""

    def __init__(self) -> None:
        self.count = 0


class CountedFile(io.FileIO):
    """A file that counts the bytes read from it, wherever it is read."""

    def __init__(self, path: Path, counter: Counter) -> None:
        super().__init__(path, "rb")
        self.counter = counter

    def readinto(self, buffer: Any) -> int:
        read = super().readinto(buffer) or 0
        self.counter.count += read
        return read


def stem_of(name: str) -> str:
    """Return a file's name without folders and extensions, as a default for missing names."""
    return name.rsplit("/", 1)[-1].removesuffix(".gz").removesuffix(".zip").rsplit(".", 1)[0]


def name_among(name: str, taken: set[str]) -> str:
    """Return a name that can be stored and that no other file has, as errors name files.

    Args:
        taken: the names of the other files, to which it is added.
    """
    name = storable(name)[:LONGEST_NAME]
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{name} ({number})"
    taken.add(free)
    return free
