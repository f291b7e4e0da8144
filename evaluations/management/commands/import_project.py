"""`manage.py import_project FILE`: create a project from an archive."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from evaluations.corpus.locks.locking import lock_in_words
from evaluations.management.base import SiteCommand
from evaluations.management.projects import add_owners
from evaluations.projects.archive.read import read_archive
from geval.files.archive.record_file import ArchiveError


class Command(SiteCommand):
    help = "Create a new project from an archive, all or nothing."
    REFUSALS = (ArchiveError,)

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="a zip that export_project wrote")
        parser.add_argument(
            "--as", dest="slug", default="", help="a short name other than the archive's"
        )
        parser.add_argument("--owner", help="user who owns it (default: every site administrator)")

    def handle(self, *_args: Any, **options: Any) -> None:
        if not options["file"].is_file():
            raise CommandError(f"{options['file']}: no such file.")
        project = read_archive(
            options["file"],
            slug=options["slug"],
            give_to=lambda made: add_owners(made, owner=options["owner"]),
        )
        counts = f"{project.documents.count():,} documents, {project.runs.count():,} runs"
        self.stdout.write(f"Project {project.slug} was created: {counts}.")
        if about_lock := lock_in_words(project):
            self.stdout.write(about_lock)
