"""Open plain, gzip and zip files; a zip contains one file, or is a workbook or a log of Inspect
(`.eval`), which is read as JSON Lines.
"""

import gzip
import io
import zipfile
from collections.abc import Generator
from pathlib import Path, PurePath, PurePosixPath
from typing import IO, Any

import orjson

from geval.files.limits import file_limits
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

OF_FILE_MANAGERS = (".DS_Store", "Thumbs.db", "desktop.ini")
INSPECT_HEADERS = ("header.json", "_journal/start.json")
INSPECT_SAMPLES = "samples/"


def open_packed(path: Path, counter: Counter | None = None) -> IO[bytes]:
    """Open a file and unpack it; a log of Inspect is read as JSON Lines, a workbook stays a zip.

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
        with open_packed(path) as raw:
            return is_parquet(raw) or is_arrow(raw)
    except UNREADABLE:
        return False


def _unzipped(archive: zipfile.ZipFile) -> Any:
    inside = usable_members(archive)
    if any(info.flag_bits & 1 for info in inside):
        raise PackedError("the zip is encrypted; create it without a password")
    if (lines := inspect_lines(archive, inside)) is not None:
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


def usable_members(archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    """Return the files of a zip, without those that file managers add."""
    return [
        info
        for info in archive.infolist()
        if not info.is_dir() and not is_of_file_manager(PurePosixPath(info.filename))
    ]


def is_of_file_manager(path: PurePath) -> bool:
    """Return whether a file was added by a system's file manager."""
    return "__MACOSX" in path.parts or path.name.startswith("._") or path.name in OF_FILE_MANAGERS


def inspect_lines(
    archive: zipfile.ZipFile, members: list[zipfile.ZipInfo]
) -> Generator[bytes, None, None] | None:
    """Return the samples of a log of Inspect, one per line; None for any other zip."""
    names = {info.filename for info in members}
    header = next((name for name in INSPECT_HEADERS if name in names), None)
    if header and any(name.startswith(INSPECT_SAMPLES) for name in names):
        return _inspect_lines(archive, header, members)
    return None


def _inspect_lines(
    archive: zipfile.ZipFile, header: str, members: list[zipfile.ZipInfo]
) -> Generator[bytes, None, None]:
    about = _json_member(archive, archive.getinfo(header))
    evaluated = about.get("eval") if isinstance(about, dict) else None
    for info in members:
        if info.filename.startswith(INSPECT_SAMPLES) and info.filename.endswith(".json"):
            record = {"eval": evaluated, "sample": _json_member(archive, info)}
            yield orjson.dumps(record) + b"\n"


def _json_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> object:
    """Load a file of a zip, which is a single JSON value.

    Raises:
        PackedError: it is too large, or not JSON.
    """
    most = file_limits().json_bytes
    try:
        with archive.open(info) as file:
            content = file.read(most + 1)
        if len(content) > most:
            raise PackedError(f"{info.filename} in the zip is larger than {most // 2**20:,} MB")
        return orjson.loads(content)
    except NotImplementedError:
        raise PackedError(
            f"{info.filename} in the zip is compressed in a way that cannot be read here; convert"
            " the log to JSON: inspect log convert --to json"
        ) from None
    except orjson.JSONDecodeError as error:
        raise PackedError(f"{info.filename} in the zip is not JSON ({error})") from None
