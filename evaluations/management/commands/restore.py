"""`manage.py restore FILE`: a site from a backup, all or nothing."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from evaluations.operations.backups import BackupError, restore


class Command(BaseCommand):
    help = "Put a backup in the place of the site's database, all or nothing."
    # Not a SiteCommand: an empty database stays empty until the backup was read.
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="what `backup` wrote")
        parser.add_argument(
            "--replace", action="store_true", help="although the database holds a site, which goes"
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        try:
            unused = restore(options["file"], replace=options["replace"])
        except BackupError as error:
            raise CommandError(str(error)) from None
        if unused:
            self.stdout.write(f"Not installed here, so without use: tables of {', '.join(unused)}.")
        self.stdout.write(
            "Restored. Runs that were in progress resume once workers run, and people sign in"
            " again. `doctor` says whether the secret key is that of the stored keys of endpoints."
        )
