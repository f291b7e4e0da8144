"""`manage.py serve`: serve the site with its workers on this machine, until Ctrl-C."""

import contextlib
import time
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from evaluations.management.base import StartingCommand
from evaluations.management.services import (
    free_port,
    log_path,
    logged_processes,
    start_web,
    start_workers,
    wait_for_web,
)
from geval_site.processes import Processes

HOST = "127.0.0.1"


class Command(StartingCommand):
    help = "Serve the site on this machine together with its workers."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--port", type=int, default=8000, help="if it is in use, the next free port is used"
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        with logged_processes() as processes:
            self.say(f"Starting workers and the web server (about 10 s); they log to {log_path()}")
            start_workers(processes)
            address = open_site(processes, port=options["port"])
            self.say(f"geval_site is at {address} (Ctrl-C to stop)")
            wait_until_interrupted(processes)


def open_site(processes: Processes, *, port: int) -> str:
    """Start the web server and wait for it; return its address."""
    port = free_port(port, HOST)
    process = start_web(processes, host=HOST, port=port)
    wait_for_web(HOST, port, process, reason=processes.reason)
    return f"http://{HOST}:{port}/"


def wait_until_interrupted(processes: Processes) -> None:
    """Wait for Ctrl-C.

    Raises:
        CommandError: a process ended unexpectedly.
    """
    with contextlib.suppress(KeyboardInterrupt):
        while not (ended := processes.tend()):
            time.sleep(0.5)
        raise CommandError(f"A process ended with code {ended.returncode}; stopping the others.")
