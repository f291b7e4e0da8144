"""Python processes that start at once: copies of one that has imported what others made.

Importing SciPy, the OpenAI client, Celery and Django takes a process two seconds or more, and the
suite starts some hundred. Here a waiting process has imported them, and forks. Settings and all
modules of ours are read by each copy by itself, in the environment it is given, and each runs as
`python manage.py …` or `python -m …` would: in a process of its own, with real signals and a real
exit code.
"""

import atexit
import contextlib
import gc
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import warnings
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import IO, Any, NoReturn

CHECKOUT = Path(__file__).resolve().parents[1]
# What takes long to import and reads no settings of Django meanwhile.
IMPORTED = (
    "aiohttp", "celery.apps.worker", "celery.bin.celery", "cryptography.fernet",
    "django.contrib.admin", "django.core.management.commands.migrate",
    "django.db.backends.postgresql.base", "django.template.defaulttags", "django.test",
    "django.views.generic", "gunicorn.app.wsgiapp", "gunicorn.workers.gthread",
    "kombu.transport.virtual", "krippendorff", "markdown_it", "openai.types.chat", "orjson",
    "pgmq", "psycopg_pool", "pydantic.networks", "scipy.stats", "whitenoise.middleware",
)  # fmt: skip


class ForkedProcess:
    """A started process: the part of subprocess.Popen that tests use."""

    def __init__(self, pid: int, ended: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._ended = ended  # here its exit code is written

    def poll(self) -> int | None:
        return self._wait(0)

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end; returns its exit code, negative for a signal.

        Raises:
            subprocess.TimeoutExpired: it has not ended by then.
        """
        code = self._wait(timeout)
        if code is None:
            raise subprocess.TimeoutExpired(f"process {self.pid}", timeout or 0)
        return code

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def _wait(self, timeout: float | None) -> int | None:
        if self.returncode is None and select.select([self._ended], [], [], timeout)[0]:
            said = os.read(self._ended, 16)
            assert said, "the process that starts processes is gone"
            os.close(self._ended)
            self.returncode = int(said)
        return self.returncode


def start_forked(
    command: Sequence[str],
    *,
    env: Mapping[str, str],
    stdout: int | IO[Any],
    stderr: int | IO[Any],
    new_session: bool,
) -> ForkedProcess:
    """Start `python COMMAND`, which is `-m MODULE …`, `-c CODE` or `FILE …`."""
    numbers = [given if isinstance(given, int) else given.fileno() for given in (stdout, stderr)]
    ended, ending = os.pipe()
    request = json.dumps([list(command), dict(env), new_session]).encode()
    control = _control()
    socket.send_fds(control, [len(request).to_bytes(8, "big")], [*numbers, ending])
    control.sendall(request)
    os.close(ending)
    return ForkedProcess(int.from_bytes(control.recv(8), "big"), ended)


@cache
def _control() -> socket.socket:
    """The way to the waiting process, which ends when this one does."""
    ours, its = socket.socketpair()
    waiting = subprocess.Popen(
        [sys.executable, "-m", "tests.forking", str(its.fileno())],
        cwd=CHECKOUT,
        env={k: v for k, v in os.environ.items() if k != "DJANGO_SETTINGS_MODULE"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        pass_fds=[its.fileno()],
        start_new_session=True,
    )
    its.close()
    atexit.register(lambda: (ours.close(), waiting.wait(20)))
    return ours


class _Waiting:
    """The process that waits and forks. It has a single thread."""

    def __init__(self, control: socket.socket) -> None:
        self.control = control
        self.running: dict[int, int] = {}
        self.died, self.dies = os.pipe()
        os.set_blocking(self.dies, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self.dies)

    def serve(self) -> list[str]:
        """Fork for each request; returns in a copy, with the command that it is to run."""
        while True:
            ready = select.select([self.control, self.died], [], [])[0]
            if self.died in ready:
                os.read(self.died, 4096)
                self._collect()
            if self.control in ready:
                head, given, *_ = socket.recv_fds(self.control, 8, 3)
                if not head:
                    self._end()
                asked = self.control.recv(int.from_bytes(head, "big"), socket.MSG_WAITALL)
                if command := self._fork(*json.loads(asked), *given):
                    return command

    def _fork(
        self, command: list[str], environment: dict[str, str], new_session: bool,
        stdout: int, stderr: int, ending: int,
    ) -> list[str] | None:  # fmt: skip
        pid = os.fork()
        if pid:
            os.close(stdout)
            os.close(stderr)
            self.running[pid] = ending
            self.control.sendall(pid.to_bytes(8, "big"))
            return None
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.dup2(stdout, 1)
        os.dup2(stderr, 2)
        for number in (stdout, stderr, ending, self.died, self.dies, *self.running.values()):
            os.close(number)
        self.control.close()
        if new_session:
            os.setsid()
        os.environ.clear()
        os.environ.update(environment)
        return command

    def _collect(self) -> None:
        for pid in list(self.running):
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                ending = self.running.pop(pid)
                with contextlib.suppress(BrokenPipeError):
                    os.write(ending, str(os.waitstatus_to_exitcode(status)).encode())
                os.close(ending)

    def _end(self) -> NoReturn:
        for pid in self.running:
            os.kill(pid, signal.SIGTERM)
        os._exit(0)


def _run(command: list[str]) -> None:
    """What `python COMMAND` does."""
    if os.environ.get("PYTHONWARNINGS") == "ignore":
        warnings.simplefilter("ignore")
    if command[0] == "-c":
        sys.argv = ["-c", *command[2:]]
        exec(command[1], {"__name__": "__main__"})
    elif command[0] == "-m":
        sys.argv = command[1:]
        runpy.run_module(command[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = command
        runpy.run_path(command[0], run_name="__main__")


if __name__ == "__main__":
    for name in IMPORTED:
        import_module(name)
    gc.collect()
    gc.freeze()
    _run(_Waiting(socket.socket(fileno=int(sys.argv[1]))).serve())
