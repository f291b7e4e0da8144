"""`manage.py backup FILE`: the whole site in one file, made while it works."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from evaluations.operations.backups import BackupError, save


class Command(BaseCommand):
    help = (
        "Write the whole database into one file, while the site works. It is a file of PostgreSQL's"
        " pg_dump. The secret key and the environment are not included."
    )
    # Not a SiteCommand: a backup is made before the upgrade that changes the tables.
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "file", type=Path, help="which must not exist; or a folder, in which it has the time"
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        path = options["file"]
        if path.is_dir():
            path /= f"{timezone.localtime():%Y-%m-%d-%H%M}.backup"
        try:
            save(path)
        except BackupError as error:
            raise CommandError(str(error)) from None
        self.stdout.write(
            f"{path}: written, {path.stat().st_size:,} bytes. Keep the secret key and the"
            " environment in another place."
        )
