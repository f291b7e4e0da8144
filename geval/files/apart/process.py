"""The reading processes: one that waits forks for each file, so that every file has its own limits.

Starting takes a third of a second and waiting costs nothing, hence one process for many files. It
has a single thread, so forking is safe; it ends when its input ends, so a killed site leaves no
process behind. For each file it forks twice: a reader under limits, and a process that sees how the
reader ends.
"""

import gc
import os
import pickle
import resource
import signal
import socket
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from geval.files.apart.messages import ApartJob, Ended, RowBatch, packed_message
from geval.files.limits import file_limits, use_limits
from geval.files.opening import opens_with_arrow
from geval.files.packed import UNREADABLE, Counter, PackedError, reason_unreadable
from geval.files.parquet import load_arrow
from geval.files.readers import InputFile, read_rows
from geval.files.rows import FileDefaults, FileErrors, Row, characters_of

# Rows are sent in parts, so that neither process holds many of them.
PART_ROWS = 1000
PART_CHARACTERS = 2**20
# A reader may also wait, for a disk, this much longer than it computes.
WAITING_SECONDS = 5
TOO_MUCH_MEMORY = (
    "cannot be read within {} MB of memory; split it, or write it as JSON Lines or CSV"
)
TOO_MUCH_TIME = "takes longer to read than {} s; split it"
BROKEN = (
    "cannot be read: its reader ended unexpectedly ({}); write the file again, or in another format"
)
# An exit status that Python itself does not use: it ends with 0 to 2, or 120.
MEMORY = 9


def main() -> None:
    """Have a file read for each connection that arrives, until the input ends."""
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # a command's own output stays its own
    gc.freeze()
    gc.set_threshold(100_000)  # the lines of a table are many lists, of which none is garbage
    jobs = socket.socket(fileno=sys.stdin.fileno())
    while received := socket.recv_fds(jobs, 1, 1)[1]:
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        if os.fork() == 0:
            _have_read(Connection(received[0]))
        os.close(received[0])
    with suppress(ChildProcessError):
        while os.wait():
            pass


def _have_read(connection: Connection) -> None:
    """Have a child read a file in a folder of its own, report how that ended, and end."""
    try:
        job: ApartJob = pickle.loads(connection.recv_bytes())  # noqa: S301 (the site's own)
        # Removed with whatever a reader that was stopped leaves in it.
        with tempfile.TemporaryDirectory(prefix="reading-", dir=job.limits.folder or None) as own:
            os.environ["TMPDIR"] = tempfile.tempdir = own
            child = os.fork()
            if child == 0:
                _read(job, connection)
            _, status = os.waitpid(child, 0)
        connection.send_bytes(packed_message(Ended(_why(status, job))))
    except (ConnectionError, EOFError):
        pass
    except BaseException as error:
        _log(error)
    finally:
        os._exit(0)  # nothing that belongs to the waiting process may be closed or flushed twice


def _log(error: BaseException) -> None:
    print(f"{type(error).__name__}: {error}", file=sys.stderr)  # noqa: T201 (the site's log)


def _read(job: ApartJob, connection: Connection) -> None:
    """Run a job, then end the process."""
    status = 1
    try:
        use_limits(lambda: job.limits)
        _limit(resource.RLIMIT_CPU, job.seconds, job.seconds + 1)
        # A second guard: each file that is unpacked counts separately.
        most = file_limits().unpacked_bytes
        _limit(resource.RLIMIT_FSIZE, most, most)
        _limit_memory()
        _import_for(job.path)
        signal.alarm(job.seconds + WAITING_SECONDS)
        for message in job.read():
            signal.alarm(0)  # whatever takes the rows may be slow
            connection.send_bytes(packed_message(message))
            signal.alarm(job.seconds + WAITING_SECONDS)
        status = 0
    except MemoryError:
        status = MEMORY
    except ConnectionError:
        status = 0
    except BaseException as error:
        _log(error)
    finally:
        os._exit(status)


def single(read: Callable[..., Any], *arguments: Any) -> Iterator[Any]:
    """Yield the only thing to send about a file."""
    yield read(*arguments)


def or_refused(read: Callable[..., Iterator[Any]], *arguments: Any) -> Iterator[Any]:
    """Yield what is read from a file; at damage its reason, as the end."""
    try:
        yield from read(*arguments)
    except UNREADABLE as error:
        yield Ended(reason_unreadable(error))


def row_batches(file: InputFile, defaults: FileDefaults) -> Iterator[RowBatch]:
    """Yield all rows of a file, in parts; the last is empty. See `readers.read_rows`."""
    counter, errors = Counter(), FileErrors(field_limit=file_limits().field_bytes, most=10_000)
    file = replace(file, counter=counter)
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
    if code in (-signal.SIGXCPU, -signal.SIGKILL, -signal.SIGALRM):
        return TOO_MUCH_TIME.format(job.seconds)
    return BROKEN.format(signal.Signals(-code).name if code < 0 else f"code {code}")
