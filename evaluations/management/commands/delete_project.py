"""`manage.py delete_project PROJECT --confirm PROJECT`: delete a project and all that it holds."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError
from django.db import transaction

from evaluations.management.base import SiteCommand
from evaluations.management.projects import find_project
from evaluations.models import AuditEntry
from evaluations.projects.archiving import archive
from evaluations.projects.deletion import DeletionError, delete_project, remove_deleted
from geval.texts.program import command


class Command(SiteCommand):
    help = "Delete a project and all that it holds. This cannot be undone."
    REFUSALS = (DeletionError,)

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="short name of the project")
        parser.add_argument(
            "--confirm", metavar="PROJECT", help="the short name again; without it nothing happens"
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        project = find_project(options["project"])
        slug = project.slug
        if options["confirm"] != slug:
            raise CommandError(
                f"Deleting {slug} cannot be undone. To keep a copy, run"
                f" `{command(f'export_project {slug} FILE.zip')}`. To delete it, add"
                f" --confirm {slug}."
            )
        with transaction.atomic():
            if project.archived_at is None:
                archive(project)
            delete_project(project, by=AuditEntry.THE_SITE)
        rows = sum(gone.rows for gone in remove_deleted())
        if rows:
            self.stdout.write(f"{slug} was deleted, with {rows:,} rows.")
        else:
            self.stdout.write(f"{slug} was deleted. A worker removes what it holds.")
