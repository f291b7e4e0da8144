"""The client side of reading files in separate processes, which read one file after another."""

import os
import selectors
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from geval.files.apart.messages import (
    LENGTH,
    ApartJob,
    Ended,
    Refused,
    packed_message,
    unpacked_message,
)
from geval.files.apart.process import BROKEN, OWN_FOLDER, TOO_MUCH_TIME
from geval.files.columns import ColumnBatch
from geval.files.limits import file_limits
from geval.files.preview import Preview
from geval.files.rater_names import KnownNames
from geval.files.readers import InputFile
from geval.files.rows import FileDefaults, FileErrors, Row
from geval.files.zipped_records import ZippedRecords
from geval.llm.child_environment import passed_on

CHECKOUT = Path(__file__).resolve().parents[3]
# Somebody waits for a preview; loading has its own, longer limit.
PREVIEW_SECONDS = 20
READ_BYTES = 2**20
# The size up to which a file is read to its end although the rest is not needed.
SOON_SECONDS, SOON_MESSAGES = 0.5, 3
# The share of the time to read a file that trying to read it by column may take.
TRIED = 10


class ReadingError(Exception):
    """A file could not be read completely; the message says why."""


def preview_apart(
    path: Path, name: str, names: KnownNames | None = None, sheet: str = ""
) -> Preview:
    """Preview the first rows of a file of any kind; never raises. See `preview.preview_file`."""
    # The reading process runs in a separate folder.
    file, most = InputFile(path.resolve(), name, sheet=sheet), file_limits()
    job = ApartJob(file, most, min(PREVIEW_SECONDS, most.reading_seconds), names=names)
    try:
        preview: Preview
        (preview,) = _messages(job)
    except ReadingError as error:
        return Preview("", error=str(error))
    return preview


def records_apart(file: InputFile, lines: frozenset[int]) -> dict[int, dict[str, str]]:
    """Return the cells of some lines of a file, by column; unreadable lines are left out."""
    cells: dict[int, dict[str, str]] = {}
    with suppress(ReadingError):
        for message in _messages(_job(file, lines=lines)):
            cells |= message
    return cells


def column_names_apart(file: InputFile) -> frozenset[str]:
    """Return the columns of a file. See `readers.column_names`.

    Raises:
        ReadingError: the file is damaged, or takes too much memory or time.
    """
    (names,) = _messages(_job(file, column_names=True))
    return frozenset(names)


def read_apart(
    file: InputFile, errors: FileErrors, *, defaults: FileDefaults
) -> Generator[Row, None, None]:
    """Yield all rows of a file; unreadable ones are added to `errors` and left out. See
    `readers.read_rows`."""
    begun = file.counter.count if file.counter else 0
    try:
        with closing(_messages(_job(file, defaults=defaults))) as batches:
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
    job = _job(file, defaults=defaults, by_column=True)
    yield from _messages(replace(job, seconds=max(1, job.seconds // TRIED)))


def zip_apart(path: Path, names: Sequence[str]) -> Generator[ZippedRecords, None, None]:
    """Yield the records of some files of JSON Lines in a zip. See `zipped_records.zipped_records`.

    Raises:
        ReadingError: the zip is damaged, or takes too much memory or time; the message says what
            and where.
    """
    yield from _messages(_job(InputFile(path, path.name), members=tuple(names)))


def _job(file: InputFile, **asked: Any) -> ApartJob:
    plain = replace(file, path=file.path.resolve(), counter=None)
    return ApartJob(plain, file_limits(), file_limits().reading_seconds, **asked)


class _Process:
    """A waiting process and the pipes to it; it has its own session, so that it ends with its
    child."""

    def __init__(self) -> None:
        # Its own folder, so that whatever it leaves behind is removed with it.
        self.folder = Path(tempfile.mkdtemp(prefix="reading-", dir=file_limits().folder or None))
        self.popen = subprocess.Popen(
            [sys.executable, "-m", "geval.files.apart"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=CHECKOUT,
            # Arrow's own allocator reserves memory by the gigabyte; the limit applies to reserved
            # memory.
            env={
                **passed_on(os.environ),
                "ARROW_DEFAULT_MEMORY_POOL": "system",
                "OMP_NUM_THREADS": "1",
                "TMPDIR": str(self.folder),
                OWN_FOLDER: str(self.folder),
            },
            start_new_session=True,
        )
        assert self.popen.stdin is not None
        assert self.popen.stdout is not None
        self.input = self.popen.stdin
        self.output = self.popen.stdout.fileno()
        self.unread = bytearray()

    def ask(self, job: ApartJob) -> None:
        # After a day without a file it may have been removed as a leftover.
        self.folder.mkdir(mode=0o700, exist_ok=True)
        os.utime(self.folder)
        self.input.write(packed_message(job))
        self.input.flush()

    def answer(self, seconds: float) -> Any:
        """Return the next message.

        Raises:
            TimeoutError, EOFError: it sent nothing within this time, or has ended.
        """
        self._wait_for(LENGTH.size, seconds)
        end = LENGTH.size + LENGTH.unpack_from(self.unread)[0]
        self._wait_for(end, seconds)
        with memoryview(self.unread) as unread:
            content = bytes(unread[LENGTH.size : end])
        self.unread = self.unread[end:]  # a text may have 20 MB: it is held once
        return unpacked_message(content)

    def _wait_for(self, count: int, seconds: float) -> None:
        """Read exactly this many bytes."""
        deadline = time.monotonic() + seconds
        with selectors.DefaultSelector() as selector:
            selector.register(self.output, selectors.EVENT_READ)
            while len(self.unread) < count:
                if not selector.select(max(0.0, deadline - time.monotonic())):
                    raise TimeoutError
                if not (content := os.read(self.output, READ_BYTES)):
                    raise EOFError
                self.unread += content

    def kill(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.popen.pid, signal.SIGKILL)
        with suppress(BrokenPipeError):
            self.input.close()
        assert self.popen.stdout is not None
        self.popen.stdout.close()
        self.popen.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


class _Waiting:
    """The process that waits for the next file; one is kept, others end after their file."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.kept: _Process | None = None
        self.owner = 0

    def take(self) -> _Process:
        with self.lock:
            # A process forked from this one must not use this one's reading process.
            process, self.kept = (self.kept if self.owner == os.getpid() else None), None
        if process is not None and process.popen.poll() is None:
            return process
        return _Process()

    def give_back(self, process: _Process) -> None:
        with self.lock:
            if self.owner != os.getpid() or self.kept is None:
                self.owner, self.kept = os.getpid(), process
                return
        process.kill()


_waiting = _Waiting()


@contextmanager
def _process() -> Iterator[_Process]:
    """Provide a process for one file; it is reused only if it answered completely."""
    process = _waiting.take()
    try:
        yield process
    except BaseException:
        process.kill()
        raise
    _waiting.give_back(process)


def _ends_soon(process: _Process) -> bool:
    """Wait for a process to reach the end of a small file; return whether it did."""
    with suppress(TimeoutError, EOFError):
        return any(isinstance(process.answer(SOON_SECONDS), Ended) for _ in range(SOON_MESSAGES))
    return False


def _messages(job: ApartJob) -> Generator[Any, None, None]:
    """Yield the messages of reading a file, up to the last.

    Raises:
        ReadingError: the file is refused, takes too much memory or time, or crashed its reader.
    """
    refused = ""
    with _process() as process:
        try:
            process.ask(job)
            while not isinstance(message := process.answer(job.seconds + 5), Ended):
                if isinstance(message, Refused):
                    refused = message.why
                else:
                    yield message
        except GeneratorExit:
            if _ends_soon(process):
                return  # so that the process can be used for the next file
            raise
        except TimeoutError:
            raise ReadingError(TOO_MUCH_TIME.format(job.seconds)) from None
        except (EOFError, BrokenPipeError):
            raise ReadingError(BROKEN.format("no answer")) from None
    if why := refused or message.why:
        raise ReadingError(why)
