"""Start the processes that commands need: Celery workers, the stand-in LLM, the web server."""

import logging
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from django.conf import settings
from django.core.management.base import CommandError

from evaluations.models import WorkerHeartbeat
from geval_site.datafolder import open_private, private_folder
from geval_site.processes import Processes
from geval_site.queues import RUNS, SHORT

# On a busy machine a process takes long to import its modules.
START_SECONDS = 60.0
# A longer log is truncated when a command starts.
MOST_LOG_BYTES = 10_000_000
# Celery warns about root because pickled messages could run code; ours are JSON, and a new machine
# has no other user.
AS_ROOT = "You're running the worker with superuser privileges"


def log_path() -> Path:
    """Return the path of the log of a site on this machine."""
    return Path(settings.DATA_DIR) / "site.log"


@contextmanager
def logged_processes() -> Iterator[Processes]:
    """Log child processes and this one to a file in the data folder, so that the terminal shows
    only the command's own output."""
    private_folder(settings.DATA_DIR)
    with (
        open_private(log_path()) as log,
        open(log.fileno(), "w", buffering=1, closefd=False) as lines,
    ):
        if log.tell() > MOST_LOG_BYTES:
            log.truncate(0)
        streams = [
            (handler, handler.setStream(lines))
            for handler in logging.getLogger().handlers
            if isinstance(handler, logging.StreamHandler)
        ]
        try:
            with Processes(log, reason=f"see {log_path()}") as processes:
                yield processes
        finally:
            for handler, stream in streams:
                if stream is not None:
                    handler.setStream(stream)


def start_workers(processes: Processes, *, project: str = "") -> list[subprocess.Popen[str]]:
    """Start a Celery worker for runs and one for all short jobs, which should not wait for runs.

    Workers are recognised by their heartbeats.

    Args:
        project: the only project whose runs a command waits for: one worker is then enough, which
            ignores runs of others, as the command was not asked to pay for them.
    """
    env = {"GEVAL_MODE": os.environ.get("GEVAL_MODE", "local"), "C_FORCE_ROOT": "1"}
    workers = [(RUNS, [RUNS], 2), ("short", [*SHORT], 12)]
    if project:
        env["GEVAL_ONLY_PROJECT"] = project
        workers = [("all", [RUNS, *SHORT], 3)]
    return [
        processes.start(
            worker_command(name, jobs=jobs, threads=threads),
            env=env,
            stdout=subprocess.DEVNULL,
            again=True,
        )
        for name, jobs, threads in workers
    ]


def worker_command(name: str, *, jobs: Sequence[str], threads: int) -> list[str]:
    """Return the command line of a Celery worker.

    Args:
        jobs: the kinds of jobs, by their names in `settings.QUEUES`.
        threads: number of concurrent jobs.
    """
    return [
        sys.executable, "-W", f"ignore:{AS_ROOT}", "-m", "celery", "-A", "geval_site",
        "--quiet", "worker", "--loglevel", "WARNING",
        "--concurrency", str(threads),
        "--queues", ",".join(settings.QUEUES[job] for job in jobs),
        "--without-mingle", "--without-gossip", "--without-heartbeat",
        "--hostname", f"geval-{name}-{os.getpid()}@%h",
    ]  # fmt: skip


def web_command(address: str, *options: str) -> list[str]:
    """Return the command line of the web server on `HOST:PORT`, with further Gunicorn options."""
    return [
        sys.executable, "-m", "gunicorn", "--config", "python:geval_site.web_server",
        "--bind", address, *options, "geval_site.wsgi",
    ]  # fmt: skip


def ensure_workers(processes: Processes, *, project: str = "") -> bool:
    """Start workers unless one for runs is alive, and wait until it is; return True if they were
    started.

    Args:
        project: the short name of the only project to work on; one worker is then enough.

    Raises:
        CommandError: a worker ends at once, or does not start in time.
    """
    alive = partial(WorkerHeartbeat.objects.doing, RUNS, project=project)
    if alive().exists():
        return False
    workers = start_workers(processes, project=project)
    deadline = time.monotonic() + START_SECONDS
    while not alive().exists():
        ended = next((worker for worker in workers if worker.poll() is not None), None)
        if ended:
            raise CommandError(
                f"A worker ended with code {ended.returncode} instead of starting;"
                f" {processes.reason}."
            )
        if time.monotonic() > deadline:
            raise CommandError(
                "The worker did not start in time. Is the broker at CELERY_BROKER_URL reachable?"
            )
        time.sleep(0.1)
    return True


def start_model(processes: Processes, command: str, *options: str, port: int) -> str:
    """Start one of our commands that serve a model; return its base URL once it answers.

    Raises:
        CommandError: it does not start.
    """
    process = processes.start(
        [sys.executable, "-m", "geval_site", command, "--port", str(free_port(port)), *options],
        stdout=subprocess.PIPE,
    )
    assert process.stdout is not None
    line = process.stdout.readline()  # it prints its address once it listens
    if "http://" not in line:
        raise CommandError(f"`{command}` did not start; {processes.reason}.")
    return next(word for word in line.split() if word.startswith("http://"))


def start_web(processes: Processes, *, host: str, port: int) -> subprocess.Popen[str]:
    """Start the web server for this machine; static files are served from their sources."""
    private_folder(settings.DATA_DIR)
    if settings.STATIC_ROOT.is_relative_to(settings.DATA_DIR):
        private_folder(settings.STATIC_ROOT)
    return processes.start(
        web_command(f"{host}:{port}"),
        env={"GEVAL_MODE": os.environ.get("GEVAL_MODE", "local")},
    )


def wait_for_web(host: str, port: int, process: subprocess.Popen[str], *, reason: str) -> None:
    """Wait until the web server accepts connections.

    Args:
        reason: where the server reports why it failed.

    Raises:
        CommandError: it ends or does not start in time.
    """
    deadline = time.monotonic() + START_SECONDS
    while True:
        with socket.socket() as probe:
            if probe.connect_ex((host, port)) == 0:
                return
        if process.poll() is not None or time.monotonic() > deadline:
            raise CommandError(f"The web server did not start; {reason}.")
        time.sleep(0.1)


def free_port(wanted: int, host: str = "127.0.0.1") -> int:
    """Return the wanted port, or the next free one.

    Raises:
        CommandError: none of the next fifty is free.
    """
    for port in range(wanted, wanted + 50):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((host, port))
            except OSError:
                continue
            return port
    raise CommandError(f"No free port from {wanted} to {wanted + 49}; set PORT to another one.")
