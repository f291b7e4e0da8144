"""Python processes that start at once: copies of one that has imported what others made.

Importing SciPy, the OpenAI client, Celery and Django takes a process two seconds or more, and the
suite starts some hundred. Here a waiting process has imported them, and forks. Each copy runs as
`python manage.py …` or `python -m …` would: in a process of its own, with real signals and a real
exit code.

Settings and all modules of ours are read in the environment that the process is given: by each copy
by itself, or, for processes on a test database, which all have the same environment, by a second
waiting process, which is a copy of the first and forks in turn.
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
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import IO, Any, NoReturn

import django

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
OURS = ("geval_site.urls", "geval_site.celery", "evaluations.management.tasks")
WAIT: list[str] = []  # the command of a waiting process itself


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
    environment = {name: value for name, value in env.items() if name != "PYTEST_CURRENT_TEST"}
    pid = _ask(_control_for(environment), command, environment, new_session, [*numbers, ending])
    os.close(ending)
    return ForkedProcess(pid, ended)


def _ask(
    control: socket.socket,
    command: Sequence[str],
    env: Mapping[str, str],
    new_session: bool,
    numbers: Sequence[int],
) -> int:
    """Have a waiting process fork with these files; returns the id of the new process."""
    request = json.dumps([list(command), dict(env), new_session]).encode()
    socket.send_fds(control, [len(request).to_bytes(8, "big")], numbers)
    control.sendall(request)
    pid = control.recv(8)
    assert pid, "the process that starts processes is gone"
    return int.from_bytes(pid, "big")


def _control_for(environment: Mapping[str, str]) -> socket.socket:
    """The way to a waiting process for a command: to one that has read our modules where the same
    environment has been asked for before, on a database that already exists."""
    if not {"DATABASE_URL", "GEVAL_MODE"} <= environment.keys():
        return _control()
    key = frozenset(environment.items())
    _asked_for[key] += 1
    return _control_in(key) if _asked_for[key] > 1 else _control()


_asked_for: Counter[frozenset[tuple[str, str]]] = Counter()


@cache
def _control_in(environment: frozenset[tuple[str, str]]) -> socket.socket:
    """The way to a second waiting process, which ends when this one does."""
    ours, its = socket.socketpair()
    with Path(os.devnull).open("r+b") as nowhere:
        numbers = [nowhere.fileno(), nowhere.fileno(), its.fileno()]
        _ask(_control(), WAIT, dict(environment), True, numbers)
    its.close()
    atexit.register(ours.close)
    return ours


@cache
def _control() -> socket.socket:
    """The way to the first waiting process, which ends when this one does."""
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
            if command == WAIT:
                os.close(ending)
            else:
                self.running[pid] = ending
            self.control.sendall(pid.to_bytes(8, "big"))
            return None
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.dup2(stdout, 1)
        os.dup2(stderr, 2)
        for number in (stdout, stderr, self.died, self.dies, *self.running.values()):
            os.close(number)
        self.control.close()
        if new_session:
            os.setsid()
        os.environ.clear()
        os.environ.update(environment)
        if command == WAIT:
            _read_our_modules()
            return _Waiting(socket.socket(fileno=ending)).serve()
        os.close(ending)
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


def _read_our_modules() -> None:
    """Import what commands, workers and the site import, in their environment."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "geval_site.settings")
    # A mistake in the environment is each command's own to report.
    with contextlib.suppress(Exception, SystemExit):
        django.setup()
        for name in OURS:
            import_module(name)
    gc.collect()
    gc.freeze()


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
