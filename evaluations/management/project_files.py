"""What `apply` and `diff` share as management commands."""

import sys
from argparse import ArgumentParser, Namespace
from io import StringIO
from typing import Any

from django.db import transaction

from evaluations.management.base import GateCommand
from evaluations.management.own_site import own_site
from geval.pipelines.project_files.command import (
    ERROR,
    RUN,
    CannotError,
    add_file,
    client_of,
)


class ProjectFileCommand(GateCommand):
    """A command of a project's file, for this site or another."""

    name: str
    REFUSALS = (CannotError,)
    ERROR = ERROR

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_file(parser)

    def handle(self, *_args: Any, **options: Any) -> None:
        arguments, out = Namespace(**options), StringIO()
        if arguments.site:
            client = client_of(arguments)
            code = RUN[self.name](lambda _project: client, arguments, self.stdout)
        else:
            # An endpoint may be probed meanwhile; nobody else waits for a new project's rows.
            with transaction.atomic():
                code = RUN[self.name](own_site, arguments, out, is_whole=True)
            self.stdout.write(out.getvalue(), ending="")
        if code:
            sys.exit(code)
