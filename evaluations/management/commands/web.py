"""`manage.py web`: the web server alone, for a container or a service manager."""

import os
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from evaluations.management.services import web_command


class Command(BaseCommand):
    help = "Serve the site's pages and its API until the process is asked to stop."
    # A site without its database still has pages that report this, and /healthz.
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--bind", default="127.0.0.1:8000", metavar="HOST:PORT")
        parser.add_argument("--workers", type=int, default=2, help="processes")
        parser.add_argument("--threads", type=int, default=4, help="of each process")

    def handle(self, *_args: Any, **options: Any) -> None:
        sizes = ("--workers", str(options["workers"]), "--threads", str(options["threads"]))
        command = web_command(options["bind"], *sizes)
        # Replace this process with the server, so that it receives signals.
        os.execv(command[0], command)  # noqa: S606
