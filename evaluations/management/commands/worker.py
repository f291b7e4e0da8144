"""`manage.py worker`: one Celery worker, for a container or a service manager."""

import os
import re
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from evaluations.management.services import worker_command
from geval_site.queues import WAITING

# Jobs that mostly wait for other servers use little processor time; runs and reports use much.
FOR_RUNS, FOR_WAITING = 4, 16


class Command(BaseCommand):
    help = "Work on jobs until the process is asked to stop; what it holds is then given back."
    # A worker waits for an unavailable database or broker.
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--jobs",
            default=",".join(settings.QUEUES),
            metavar="KIND,…",
            help=f"kinds of jobs it takes: {', '.join(settings.QUEUES)} (default: all)",
        )
        parser.add_argument(
            "--concurrency",
            type=int,
            metavar="N",
            help=f"jobs at once, each in a thread: {FOR_RUNS}, or {FOR_WAITING} if all its jobs"
            f" mostly wait for others ({', '.join(WAITING)})",
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        # systemd allows no commas in a unit's name, which lists the kinds.
        jobs = [job.strip() for job in re.split("[,:]", options["jobs"]) if job.strip()]
        unknown = [job for job in jobs if job not in settings.QUEUES]
        if unknown or not jobs:
            raise CommandError(
                f"--jobs {options['jobs']}: write one or more of {', '.join(settings.QUEUES)},"
                " separated by commas."
            )
        usual = FOR_WAITING if set(jobs) <= set(WAITING) else FOR_RUNS
        command = worker_command("-".join(jobs), jobs=jobs, threads=options["concurrency"] or usual)
        # Replace this process with the worker, so that it receives signals. It may run as root, as
        # under `serve`.
        os.execve(command[0], command, {**os.environ, "C_FORCE_ROOT": "1"})  # noqa: S606
