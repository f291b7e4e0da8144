"""The client side of reading files in separate processes, which read one file after another."""

import atexit
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from functools import partial
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from geval.files.apart.messages import ApartJob, Ended, packed_message, unpacked_message
from geval.files.apart.process import (
    BROKEN,
    TOO_MUCH_TIME,
    WAITING_SECONDS,
    or_refused,
    row_batches,
    single,
)
from geval.files.columns import ColumnBatch, column_batches
from geval.files.limits import file_limits
from geval.files.preview import Preview, preview_file
from geval.files.rater_names import KnownNames
from geval.files.readers import InputFile, cells_at, column_names
from geval.files.rows import FileDefaults, FileErrors, Row
from geval.files.zipped_records import ZippedRecords, zipped_records
from geval.llm.child_environment import passed_on

CHECKOUT = Path(__file__).resolve().parents[3]
# Somebody waits for a preview; loading has its own, longer limit.
PREVIEW_SECONDS = 20
STOPPING_SECONDS = 1
# The share of the time to read a file that trying to read it by column may take.
TRIED = 10


class ReadingError(Exception):
    """A file could not be read completely; the message says why."""


def preview_apart(
    path: Path, name: str, names: KnownNames | None = None, sheet: str = ""
) -> Preview:
    """Preview the first rows of a file of any kind; never raises. See `preview.preview_file`."""
    job = _job(path, single, preview_file, path.resolve(), name, names, sheet)
    try:
        preview: Preview
        (preview,) = _messages(replace(job, seconds=min(PREVIEW_SECONDS, job.seconds)))
    except ReadingError as error:
        return Preview("", error=str(error))
    return preview


def records_apart(file: InputFile, lines: frozenset[int]) -> dict[int, dict[str, str]]:
    """Return the cells of some lines of a file, by column; unreadable lines are left out."""
    cells: dict[int, dict[str, str]] = {}
    with suppress(ReadingError):
        for message in _messages(_job(file.path, single, cells_at, _plain(file), lines)):
            cells |= message
    return cells


def column_names_apart(file: InputFile) -> frozenset[str]:
    """Return the columns of a file. See `readers.column_names`.

    Raises:
        ReadingError: the file is damaged, or takes too much memory or time.
    """
    (names,) = _messages(_job(file.path, or_refused, single, column_names, _plain(file)))
    return frozenset(names)


def read_apart(
    file: InputFile, errors: FileErrors, *, defaults: FileDefaults
) -> Generator[Row, None, None]:
    """Yield all rows of a file; unreadable ones are added to `errors` and left out. See
    `readers.read_rows`."""
    begun = file.counter.count if file.counter else 0
    job = _job(file.path, row_batches, _plain(file), defaults)
    try:
        with closing(_messages(job)) as batches:
            for batch in batches:
                errors.extend(batch.errors, batch.error_count)
                errors.unused.extend(batch.unused)
                if file.counter:
                    file.counter.count = begun + batch.bytes_read
                yield from batch.rows
    except GeneratorExit:
        if file.counter:
            file.counter.count = begun  # it will be read again from the beginning, or not at all
        raise
    except ReadingError as error:
        errors.add(file.name, 0, "", str(error))


def columns_apart(file: InputFile, defaults: FileDefaults) -> Generator[ColumnBatch, None, None]:
    """Yield the lines of a plain table, by column.

    Raises:
        ReadingError: it is none, or cannot be read so; `read_apart` reads it, or says why not.
    """
    job = _job(file.path, or_refused, column_batches, _plain(file), defaults)
    yield from _messages(replace(job, seconds=max(1, job.seconds // TRIED)))


def zip_apart(path: Path, names: Sequence[str]) -> Generator[ZippedRecords, None, None]:
    """Yield the records of some files of JSON Lines in a zip. See `zipped_records.zipped_records`.

    Raises:
        ReadingError: the zip is damaged, or takes too much memory or time; the message says what
            and where.
    """
    yield from _messages(_job(path, or_refused, zipped_records, path.resolve(), tuple(names)))


def _plain(file: InputFile) -> InputFile:
    """Return the file as a process in another folder, which has its own counter, finds it."""
    return replace(file, path=file.path.resolve(), counter=None)


def _job(path: Path, read: Callable[..., Iterator[Any]], *arguments: Any) -> ApartJob:
    limits = file_limits()
    return ApartJob(path.resolve(), limits, limits.reading_seconds, partial(read, *arguments))


class _Waiting:
    """The process that waits for files to read; it is started with the first."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.popen: subprocess.Popen[bytes] | None = None

    def connect(self) -> Connection:
        """Return a connection to a new process that reads one file; it ends with the
        connection."""
        with self.lock:
            # A process forked from this one finds that this is no child of its own.
            if self.popen is None or self.popen.poll() is not None:
                self._start()
            ours, theirs = Pipe()
            with theirs:
                socket.send_fds(self.jobs, [b"1"], [theirs.fileno()])
        return ours

    def _start(self) -> None:
        self.jobs, theirs = socket.socketpair()
        with theirs:
            self.popen = subprocess.Popen(
                [sys.executable, "-m", "geval.files.apart"],
                stdin=theirs.fileno(),
                cwd=CHECKOUT,
                # Arrow's own allocator reserves memory by the gigabyte; the limit applies to
                # reserved memory.
                env={
                    **passed_on(os.environ),
                    "ARROW_DEFAULT_MEMORY_POOL": "system",
                    "OMP_NUM_THREADS": "1",
                },
                start_new_session=True,
            )

    def stop(self) -> None:
        """End the process; readers at work finish their files."""
        with self.lock:
            if self.popen is not None:
                self.jobs.close()
                with suppress(subprocess.TimeoutExpired):
                    self.popen.wait(STOPPING_SECONDS)
                self.popen.kill()
                self.popen.wait()
                self.popen = None


_waiting = _Waiting()
# Python warns of processes and sockets that are left.
atexit.register(_waiting.stop)


def _messages(job: ApartJob) -> Generator[Any, None, None]:
    """Yield the messages of reading a file, up to the last.

    Raises:
        ReadingError: the file is refused, takes too much memory or time, or crashed its reader.
    """
    try:
        with _waiting.connect() as connection:
            connection.send_bytes(packed_message(job))
            while True:
                if not connection.poll(job.seconds + WAITING_SECONDS):
                    raise ReadingError(TOO_MUCH_TIME.format(job.seconds))
                message = unpacked_message(connection.recv_bytes(job.limits.reading_bytes))
                if isinstance(message, Ended):
                    break
                yield message
    except (EOFError, OSError):
        _waiting.stop()  # it may be ending itself
        raise ReadingError(BROKEN.format("no answer")) from None
    if message.why:
        raise ReadingError(message.why)
