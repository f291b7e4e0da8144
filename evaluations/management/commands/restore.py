"""`manage.py restore FILE`: a site from a backup, all or nothing."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

import psycopg
from django.core.management.base import BaseCommand, CommandError
from django.db import Error as DatabaseError

from evaluations.operations.backup.restoring import restore
from geval.files.backups.errors import BackupError


class Command(BaseCommand):
    help = (
        "Restore a backup. It goes into a new database, which replaces the site's once it is"
        " complete."
    )
    # Not a SiteCommand: an empty database stays empty until the backup has been verified.
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="what `backup` wrote")
        parser.add_argument(
            "--replace",
            action="store_true",
            help="replace a database that holds a site, which is kept under another name",
        )
        parser.add_argument(
            "--drop", action="store_true", help="with --replace: drop what was replaced"
        )
        parser.add_argument(
            "--disconnect",
            action="store_true",
            help="end other connections to the database, instead of refusing to restore",
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        try:
            restore(
                options["file"],
                replace=options["replace"],
                disconnect=options["disconnect"],
                drop=options["drop"],
                say=self._say,
            )
        except BackupError as error:
            raise CommandError(str(error)) from None
        except (DatabaseError, psycopg.Error) as error:
            raise CommandError(f"The database refuses: {error}") from None

    def _say(self, line: str) -> None:
        self.stdout.write(line)
        self.stdout.flush()
