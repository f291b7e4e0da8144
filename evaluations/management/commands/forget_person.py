"""`manage.py forget_person NAME --confirm NAME`: remove what names a person; ratings stay."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from annotations.errors import AnnotationError
from annotations.results.leaving import forget, person_named
from evaluations.management.base import SiteCommand
from evaluations.management.projects import find_project
from evaluations.people.members import MemberError
from geval.texts.program import command


class Command(SiteCommand):
    help = "Remove what names a person, for good. Ratings stay, under a pseudonym."
    REFUSALS = (AnnotationError, MemberError)

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "name", help="of an account or annotator, an e-mail address, or the id of a panel"
        )
        parser.add_argument("--project", metavar="PROJECT", help="only there; the account stays")
        parser.add_argument(
            "--confirm", metavar="NAME", help="the name again; without it nothing happens"
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        name, slug = options["name"], options["project"]
        if options["confirm"] not in (None, name):
            raise CommandError("--confirm has another name. Nothing was removed.")
        person = person_named(name, find_project(slug) if slug else None)
        is_dry_run = options["confirm"] is None
        for kind, count in forget(person, dry_run=is_dry_run).items():
            self.stdout.write(f"{kind}: {count:,}")
        if is_dry_run:
            again = command(f"forget_person {name!r} --confirm {name!r}")
            self.stdout.write(f"Nothing was removed. To remove this for good, run `{again}`.")
        else:
            self.stdout.write(f"Removed. Ratings are now by {person.pseudonym!r}.")
