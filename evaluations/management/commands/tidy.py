"""`manage.py tidy`: remove what is older than the site keeps it, or say what would go."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from evaluations.management.base import SiteCommand
from evaluations.models import Project
from evaluations.operations.retention import (
    Due,
    Policy,
    begin_of,
    due,
    entries_in_words,
    policy_of_site,
    replies_in_words,
    tidy,
)
from evaluations.projects.deletion import remove_deleted


class Command(SiteCommand):
    help = (
        "Remove old replies, log entries and what deleted projects held. Replies and entries go"
        " when they are older than the site keeps them; scores stay. Workers do the same every day."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        usual = policy_of_site()
        parser.add_argument(
            "--dry-run", action="store_true", help="remove nothing, and say what would go"
        )
        parser.add_argument(
            "--replies", type=int, default=usual.replies, metavar="DAYS",
            help="instead of GEVAL_KEEP_REPLIES_DAYS; 0 keeps all",
        )  # fmt: skip
        parser.add_argument(
            "--audit", type=int, default=usual.audit, metavar="DAYS",
            help="instead of GEVAL_KEEP_AUDIT_DAYS; 0 keeps all",
        )  # fmt: skip

    def handle(self, *_args: Any, **options: Any) -> None:
        policy = Policy(replies=options["replies"], audit=options["audit"])
        if min(policy.replies, policy.audit) < 0:
            raise CommandError("Days cannot be negative; 0 keeps everything.")
        self._describe(policy)
        self._remove_deleted(dry_run=options["dry_run"])
        of_projects = due(policy) if options["dry_run"] else tidy(policy)
        for of_project in of_projects:
            self.stdout.write(f"  {of_project.slug or '(no project)'}: {_words(of_project)}")
        verb = "would be removed" if options["dry_run"] else "removed"
        replies, entries = (
            sum(of_project.replies for of_project in of_projects),
            sum(of_project.entries for of_project in of_projects),
        )
        total = f"{replies_in_words(replies)} and {entries_in_words(entries)}"
        self.stdout.write(f"{total} {verb}.")

    def _remove_deleted(self, *, dry_run: bool) -> None:
        if dry_run:
            for project in Project.objects.deleted():
                self.stdout.write(f"  {project.slug}: a deleted project, would be removed")
        else:
            for gone in remove_deleted():
                self.stdout.write(f"  {gone.slug}: a deleted project, {gone.rows:,} rows removed")

    def _describe(self, policy: Policy) -> None:
        for name, days in (("Raw replies", policy.replies), ("Audit entries", policy.audit)):
            kept = f"from {begin_of(days):%Y-%m-%d} on ({days} days)" if days else "for good"
            self.stdout.write(f"{name} are kept {kept}.")


def _words(due: Due) -> str:
    parts = [replies_in_words(due.replies)] if due.replies else []
    return ", ".join([*parts, *([entries_in_words(due.entries)] if due.entries else [])])
