"""`manage.py verify CERTIFICATE`: whether a certificate is genuine and still fits; asks nothing
over the network."""

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from assurance.certifying.verifying import VerifyError, read_certificate, verify
from evaluations.management.base import GateCommand
from evaluations.models.sealing import public_key


class Command(GateCommand):
    help = (
        "Compare a certificate with its project as it is now. Exits with 0 if it is genuine, still"
        " fits and says “met”; 1 if not; 2 if the project is not on this site."
    )
    REFUSALS = (VerifyError,)

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "certificate", type=Path, nargs="?", help="a file that `certify --out` wrote"
        )
        parser.add_argument(
            "--project", metavar="SLUG", help="its project, if it has another name here"
        )
        parser.add_argument(
            "--key", help="the public key of the site that made it (default: of this site)"
        )
        parser.add_argument(
            "--show-key", action="store_true", help="print this site's public key, and end"
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        if options["show_key"]:
            self.stdout.write(public_key())
            return
        if options["certificate"] is None:
            raise CommandError("Name the file of a certificate.")
        content = read_certificate(options["certificate"])
        verified = verify(content, key=options["key"] or public_key(), project=options["project"])
        for line in verified.said:
            self.stdout.write(line)
        sys.exit(verified.exit)
