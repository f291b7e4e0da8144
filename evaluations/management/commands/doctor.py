"""`geval-site doctor`: look at everything the site depends on, and say what to do."""

import sys
from typing import Any

from django.core.management.base import BaseCommand

from evaluations.operations.doctor import Severity, examine


class Command(BaseCommand):
    help = (
        "Check whether the site works, and print what to do. It looks at settings, versions, disk,"
        " database, clock, broker, workers, leases and endpoints. The exit code is 1 if something"
        " is wrong."
    )
    # It runs them itself, and continues after an error.
    requires_system_checks = ()

    def handle(self, *_args: Any, **_options: Any) -> None:
        errors = 0
        for finding in examine():
            errors += finding.severity == Severity.ERROR
            self.stdout.write(f"{finding.severity:8} {finding.subject:18} {finding.seen}")
            if finding.advice and finding.severity != Severity.OK:
                self.stdout.write(f"{'':27} → {finding.advice}")
        self.stdout.write(f"\n{errors} errors" if errors else "\nNothing is wrong.")
        if errors:
            sys.exit(1)
