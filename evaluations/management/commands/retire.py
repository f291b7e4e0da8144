"""`manage.py retire PROJECT --judge NAME`: retire a judge or an endpoint, or restore it."""

from argparse import ArgumentParser
from typing import Any

from evaluations.judging.judges.judges import retire
from evaluations.management.base import SiteCommand
from evaluations.management.projects import find_endpoint, find_judge, find_project
from evaluations.models import Endpoint, Judge


class Command(SiteCommand):
    help = "Retire a judge or an endpoint; its scores are kept. --back restores it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="short name of the project")
        which = parser.add_mutually_exclusive_group(required=True)
        which.add_argument("--judge", metavar="NAME")
        which.add_argument("--endpoint", metavar="NAME")
        parser.add_argument("--back", action="store_true")

    def handle(self, *_args: Any, **options: Any) -> None:
        project = find_project(options["project"])
        thing: Judge | Endpoint = (
            find_judge(project, options["judge"])
            if options["judge"]
            else find_endpoint(project, options["endpoint"])
        )
        retire(thing, back=options["back"])
        self.stdout.write(f"{thing} was {'restored' if options['back'] else 'retired'}.")
