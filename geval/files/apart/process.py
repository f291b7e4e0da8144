"""The reading process: waits for jobs and forks for each, so that every file has its own limits.

Starting takes a third of a second and waiting costs nothing, hence one process for many files. It
has a single thread, so forking is safe; it ends when its input ends, so a killed site leaves no
process behind.
"""

import gc
import os
import resource
import shutil
import signal
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import IO, Any

from geval.files.apart.messages import (
    ApartJob,
    Ended,
    Refused,
    RowBatch,
    next_message,
    packed_message,
)
from geval.files.columns import column_batches
from geval.files.limits import file_limits, use_limits
from geval.files.opening import opens_with_arrow
from geval.files.packed import UNREADABLE, Counter, PackedError, reason_unreadable
from geval.files.parquet import load_arrow
from geval.files.preview import preview_file
from geval.files.readers import cells_at, column_names, read_rows
from geval.files.rows import FileDefaults, FileErrors, Row, characters_of
from geval.files.zipped_records import zipped_records

# Rows are sent in parts, so that neither process holds many of them.
PART_ROWS = 1000
PART_CHARACTERS = 2**20
TOO_MUCH_MEMORY = (
    "cannot be read within {} MB of memory; split it, or write it as JSON Lines or CSV"
)
TOO_MUCH_TIME = "takes longer to read than {} s; split it"
BROKEN = (
    "cannot be read: its reader ended unexpectedly ({}); write the file again, or in another format"
)


# The environment variable with this process's own folder for temporary files.
OWN_FOLDER = "GEVAL_READING_FOLDER"


def main() -> None:
    """Run one job after another, each in a child process, until the input ends."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # printed text must not mix with the answers
    gc.freeze()
    gc.set_threshold(100_000)  # the lines of a table are many lists, of which none is garbage
    folder = Path(os.environ[OWN_FOLDER])
    while (job := next_message(sys.stdin.buffer)) is not None:
        child = os.fork()
        if child == 0:
            _do(job, answers)
        _, status = os.waitpid(child, 0)
        _empty(folder)
        answers.write(packed_message(Ended(_why(status, job))))
        answers.flush()
    shutil.rmtree(folder, ignore_errors=True)


def _do(job: ApartJob, answers: IO[bytes]) -> None:
    """Run a job, then end the process."""
    status = 1
    try:
        use_limits(lambda: job.limits)
        _limit(resource.RLIMIT_CPU, job.seconds, job.seconds + 1)
        # A second guard: each file that is unpacked counts separately.
        most = file_limits().unpacked_bytes
        _limit(resource.RLIMIT_FSIZE, most, most)
        _limit_memory()
        _import_for(job.file.path)
        for message in _messages(job):
            answers.write(packed_message(message))
            answers.flush()
        status = 0
    except MemoryError:
        status = MEMORY
    except BrokenPipeError:
        status = 0
    except BaseException as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)  # noqa: T201 (the site's log)
    finally:
        os._exit(
            status
        )  # nothing that belongs to the waiting process may be closed or flushed twice


def _messages(job: ApartJob) -> Iterator[Any]:
    """Yield what a job asks for."""
    if job.members is not None:
        yield from _or_refused(zipped_records(job.file.path, job.members))
    elif job.column_names:
        yield from _or_refused(map(column_names, [job.file]))
    elif job.lines is not None:
        yield cells_at(job.file, job.lines)
    elif job.defaults is None:
        yield preview_file(job.file.path, job.file.name, job.names, job.file.sheet)
    elif job.by_column:
        yield from _or_refused(column_batches(job.file, job.defaults))
    else:
        yield from _rows(job, job.defaults)


def _or_refused(messages: Iterator[Any]) -> Iterator[Any]:
    try:
        yield from messages
    except UNREADABLE as error:
        yield Refused(reason_unreadable(error))


def _empty(folder: Path) -> None:
    """Remove the files of a child that was stopped."""
    for file in folder.glob("*"):
        file.unlink()


# An exit status that Python itself does not use: it ends with 0 to 2, or 120.
MEMORY = 9


def _rows(job: ApartJob, defaults: FileDefaults) -> Iterator[RowBatch]:
    counter, errors = Counter(), FileErrors(field_limit=file_limits().field_bytes, most=10_000)
    file = replace(job.file, counter=counter)
    errors.left_out = {file.name: file.left_out}
    rows = read_rows(file, errors, defaults=defaults)
    while True:
        part = list(_part_of(rows))
        yield RowBatch(part, *errors.drain(), counter.count, errors.unused.drain())
        if not part:
            return


def _part_of(rows: Iterator[Row]) -> Iterator[Row]:
    """Return the next rows to send together: some hundred, fewer if they are long."""
    characters = 0
    for row in islice(rows, PART_ROWS):
        yield row
        characters += characters_of(row)
        if characters > PART_CHARACTERS:
            return


def _limit_memory() -> None:
    """Limit how much this process may grow, apart from memory shared with the waiting process."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except OSError:  # systems without it do not enforce this limit
        return
    most = pages * resource.getpagesize() + file_limits().reading_bytes
    _limit(resource.RLIMIT_AS, most, resource.RLIM_INFINITY)


def _limit(what: int, soft: int, hard: int) -> None:
    """Set a limit; one that the user's own shell or scheduler has set stays."""
    _soft, ceiling = resource.getrlimit(what)
    if ceiling != resource.RLIM_INFINITY:
        soft, hard = (
            ceiling if end == resource.RLIM_INFINITY else min(end, ceiling) for end in (soft, hard)
        )
    resource.setrlimit(what, (soft, hard))


def _import_for(path: Path) -> None:
    """Import Arrow before the limit applies, as this takes more memory than reading most files."""
    if not opens_with_arrow(path):
        return
    _limit(resource.RLIMIT_AS, resource.RLIM_INFINITY, resource.RLIM_INFINITY)
    with suppress(PackedError):  # reading the file reports it
        load_arrow()
    _limit_memory()


def _why(status: int, job: ApartJob) -> str:
    """Return why a child process could not read its file; empty if it could."""
    code = os.waitstatus_to_exitcode(status)
    if code == 0:
        return ""
    # C++ code aborts when it gets no memory.
    if code in (MEMORY, -signal.SIGABRT):
        return TOO_MUCH_MEMORY.format(job.limits.reading_bytes // 2**20)
    if code in (-signal.SIGXCPU, -signal.SIGKILL):
        return TOO_MUCH_TIME.format(job.seconds)
    return BROKEN.format(signal.Signals(-code).name if code < 0 else f"code {code}")
