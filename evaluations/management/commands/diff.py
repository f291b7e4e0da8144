"""`manage.py diff FILE`: what `apply` would change."""

import sys
from argparse import ArgumentParser, Namespace
from typing import Any

from evaluations.management.base import GateCommand
from evaluations.management.own_site import own_site
from geval.pipelines.project_files.command import (
    ERROR,
    CannotError,
    add_file,
    client_of,
    diff,
    wanted_in,
)


class Command(GateCommand):
    help = (
        "Say what `apply` would change of a project: ends with 0 (nothing), 1 (changes) or 2 (an"
        " error)."
    )
    REFUSALS = (CannotError,)
    ERROR = ERROR

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_file(parser)

    def handle(self, *_args: Any, **options: Any) -> None:
        arguments = Namespace(**options)
        site = (
            client_of(arguments) if arguments.site else own_site(wanted_in(arguments.file).project)
        )
        code = diff(site, arguments, self.stdout)  # type: ignore[arg-type]
        if code:
            sys.exit(code)
