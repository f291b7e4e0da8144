"""Read files of JSON Lines within one zip, one after the other."""

import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import orjson

from geval.files.limits import file_limits
from geval.files.packed import PackedError

# Parts are stored one after another, so that memory does not grow with the archive.
PART_RECORDS = 5000
PART_BYTES = 4 * 2**20


@dataclass(frozen=True)
class ZippedRecords:
    """Some records of a file in a zip, starting at a line (from 1)."""

    name: str
    line: int
    records: list[Any]


def zipped_records(path: Path, names: Sequence[str]) -> Iterator[ZippedRecords]:
    """Yield the records of these files, in this order, some at a time.

    Raises:
        PackedError: a line is too long, or not JSON; the message says where.
        One of `packed.UNREADABLE`: the zip is damaged.
    """
    with zipfile.ZipFile(path) as archive:
        for name in names:
            with archive.open(name) as file:
                yield from _records(file, name)


def _records(file: IO[bytes], name: str) -> Iterator[ZippedRecords]:
    most = 6 * file_limits().field_bytes
    records: list[Any] = []
    first, size = 1, 0
    while line := file.readline(most + 1):
        number = first + len(records)
        if len(line) > most:
            raise PackedError(
                f"{name}, line {number}: longer than {most // 2**20:,} MB, six times the limit of a"
                " field."
            )
        try:
            records.append(orjson.loads(line))
        except orjson.JSONDecodeError as error:
            raise PackedError(f"{name}, line {number}: {error}. The archive is damaged.") from None
        size += len(line)
        if len(records) >= PART_RECORDS or size > PART_BYTES:
            yield ZippedRecords(name, first, records)
            first, records, size = number + 1, [], 0
    if records:
        yield ZippedRecords(name, first, records)
