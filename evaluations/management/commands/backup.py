"""`manage.py backup FILE`: the whole site in one file, made while it works."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

import psycopg
from django.core.management.base import BaseCommand, CommandError
from django.db import Error as DatabaseError
from django.utils import timezone

from evaluations.operations.backup.saving import save
from geval.files.backups.container import verify
from geval.files.backups.errors import BackupError
from geval.files.backups.manifest import BackupManifest, version_words
from geval.files.backups.nightly import nightly_file, remove_old


class Command(BaseCommand):
    help = (
        "Write everything in the database into one file, while the site works. The secret key and"
        " the environment are not included."
    )
    # Not a SiteCommand: a backup is made before the upgrade that changes the tables.
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "file",
            type=Path,
            help="the file to write, which must not exist yet; or a folder, in which it is named by"
            " the time",
        )
        parser.add_argument(
            "--keep-days",
            type=int,
            metavar="N",
            help="then remove backups of that folder that are named by a time and were written more"
            " than so many days ago",
        )
        parser.add_argument(
            "--verify",
            action="store_true",
            help="write nothing: read the file through and compare its checksums",
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        path, days, now = options["file"], options["keep_days"], timezone.localtime()
        folder = path if path.is_dir() and not options["verify"] else None
        if days is not None and (folder is None or days < 1):
            raise CommandError(
                "--keep-days is for a folder that exists, and at least 1: backup /var/backups/geval"
                " --keep-days 30"
            )
        if folder:
            path = nightly_file(folder, now)
        try:
            manifest = verify(path) if options["verify"] else save(path)
        except BackupError as error:
            raise CommandError(str(error)) from None
        except (DatabaseError, psycopg.Error) as error:
            raise CommandError(f"The database refuses: {error}") from None
        done = "is complete and undamaged" if options["verify"] else "written"
        self.stdout.write(f"{path}: {done}.")
        self._describe(manifest)
        if folder and days is not None:
            for old in remove_old(folder, days=days, now=now):
                self.stdout.write(f"{old}: removed, as it is older than {days} days.")

    def _describe(self, manifest: BackupManifest) -> None:
        size = sum(file.bytes for file in manifest.files.values())
        self.stdout.write(
            f"Made {manifest.made_at} by geval_site {manifest.software} from PostgreSQL"
            f" {version_words(manifest.postgresql)}; {size:,} bytes,"
            f" {sum(manifest.tables.values()):,} rows in {len(manifest.tables)} tables."
        )
        for slug, held in manifest.projects.items():
            listed = ", ".join(f"{count:,} {name}" for name, count in held.items() if count)
            self.stdout.write(f"  {slug}: {listed or 'empty'}")
        self.stdout.write(
            "Not included: the secret key and the environment; keep them in another place."
        )
