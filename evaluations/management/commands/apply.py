"""`manage.py apply FILE`: make a project what a YAML file says, all of it or nothing."""

from argparse import ArgumentParser, Namespace
from io import StringIO
from typing import Any

from django.db import transaction

from evaluations.management.base import GateCommand
from evaluations.management.own_site import own_site
from geval.pipelines.project_files.command import (
    ERROR,
    CannotError,
    add_file,
    apply,
    client_of,
    wanted_in,
)


class Command(GateCommand):
    help = (
        "Make a project what a YAML file says of its criteria, endpoints, judges and campaigns."
        " What the file does not name stays as it is."
    )
    REFUSALS = (CannotError,)
    ERROR = ERROR

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_file(parser)

    def handle(self, *_args: Any, **options: Any) -> None:
        arguments, out = Namespace(**options), StringIO()
        if arguments.site:
            apply(client_of(arguments), arguments, self.stdout)  # type: ignore[arg-type]
            return
        # An endpoint may be probed meanwhile; nobody else waits for a new project's rows.
        with transaction.atomic():
            apply(own_site(wanted_in(arguments.file).project), arguments, out, is_whole=True)
        self.stdout.write(out.getvalue(), ending="")
